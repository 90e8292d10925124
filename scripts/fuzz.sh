#!/usr/bin/env bash
# Builds the fuzzers in BUILD/fuzz and has scripts/fuzz_run.sh run them for FUZZ_SECONDS (300) in all on FUZZ_WORKERS (1) processors;
# FUZZ=parse,readers takes those alone. A finding: status 1, the input lies in FUZZ_OUT/found (BUILD/fuzz/out/found). Installs nothing: without
# clang's libFuzzer it says so, with status 1. Usage: fuzz.sh BUILD, or with one of
#   --test        as `make test` does it: what cannot be run, or has no seconds, is said to be skipped, with status 0
#   --only-build
#   --clang       prints which clang is taken; status 1: there is none
set -euo pipefail
build=$1 mode=${2:-} FUZZ=${FUZZ:-}

has_libfuzzer() {
    echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d != 0 && n == -1; }' |
        "$1" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null
}

# That of the LLVM which gnnc is written against compiles faster than older ones.
find_clang() {
    local c
    for c in ${FUZZ_CLANG:-/usr/lib/llvm-22/bin/clang clang}; do
        c=$(command -v "$c") && has_libfuzzer "$c" && echo "$c" && return 0
    done
    return 1
}

build_fuzzers() { # clang
    local program=${1##*/} targets
    if ! [ -f "$build/fuzz/build.ninja" ] || ! grep -qx "CMAKE_C_COMPILER:.*=$1" "$build/fuzz/CMakeCache.txt"; then
        cmake --fresh -G Ninja -S . -B "$build/fuzz" -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="${1%/*}/${program/clang/clang++}" \
            -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-g1 -O1" -DGNNC_FUZZ=ON -DGNNC_FUZZ_TOOLS="$(realpath "$build")/bin" >/dev/null
    fi
    read -ra targets <<<"${FUZZ//,/ }"
    targets=("${targets[@]/#/fuzz-}")
    ninja -C "$build/fuzz" "${targets[@]:-fuzzers}"
}

if [ "$mode" = --test ] && [ "${FUZZ_SECONDS:-300}" = 0 ]; then
    echo "fuzzing: skipped, for it was given no seconds"
    exit 0
fi
if ! clang=$(find_clang); then
    [ "$mode" != --clang ] || exit 1
    needs="a clang with libFuzzer, which ${FUZZ_CLANG:-clang here} is not (apt-get install clang-22 libclang-rt-22-dev; FUZZ_CLANG names another)"
    [ "$mode" != --test ] || { echo "fuzzing: skipped, it needs $needs; only the corpora are replayed" && exit 0; }
    echo "make fuzz needs $needs. make test replays the corpora without."
    exit 1
fi
[ "$mode" != --clang ] || { echo "$clang" && exit 0; }
build_fuzzers "$clang"
echo "fuzzers: built by $clang in $SECONDS s"
[ "$mode" != --only-build ] || exit 0
FUZZ_BIN=$build/fuzz/bin/fuzz FUZZ_CORPUS=test/fuzz/corpus FUZZ_DICT=test/fuzz/gnn.dict FUZZ_OUT=${FUZZ_OUT:-$build/fuzz/out} \
    scripts/fuzz_run.sh "${FUZZ_SECONDS:-300}" "${FUZZ_WORKERS:-1}" && exit 0
echo "without clang: ninja -C $build unit_tests, then $build/bin/unit/replay-TARGET INPUT"
exit 1
