#!/usr/bin/env bash
# Packs the fuzzers of `make fuzz` for an x86-64 Linux where nothing can be installed: the programs with the libraries they need, the corpora and
# run.sh (scripts/fuzz_run.sh). There: FOLDER/run.sh SECONDS WORKERS. Usage: fuzz_pack.sh BUILD FOLDER
set -euo pipefail
build=$1 folder=$2
scripts/fuzz.sh "$build" --only-build
mkdir -p "$folder"/{bin,lib/c,corpus}
cp scripts/fuzz_run.sh "$folder/run.sh"
cp test/fuzz/gnn.dict "$folder"
cp -r test/fuzz/corpus/. "$folder/corpus"
for program in "$build"/fuzz/bin/fuzz/*; do
    strip -o "$folder/bin/$(basename "$program")" "$program"
    gzip -f "$folder/bin/$(basename "$program")"
    ldd "$program" | awk '/=> \// { print $3 } /^[[:space:]]*\/.*ld-linux/ { print $1 }'
done | sort -u | while read -r library; do
    case $(basename "$library") in
    ld-linux* | libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so*) cp -L "$library" "$folder/lib/c" ;;
    *) cp -L "$library" "$folder/lib" ;;
    esac
done
du -sh "$folder"
