#!/usr/bin/env bash
# Builds the fuzzers in BUILD/fuzz and has scripts/fuzz_run.sh run them for SECONDS (300) in all on WORKERS (1) processors; FUZZ=parse,readers
# takes those alone. A finding: status 1, the input lies in BUILD/fuzz/out/found. Installs nothing. Usage: fuzz.sh BUILD [--only-build]
set -euo pipefail
build=$1 FUZZ=${FUZZ:-}
clang=$(command -v "${FUZZ_CLANG:-clang}" || true)
if [ -z "$clang" ] || ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d != 0 && n == -1; }' |
    "$clang" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null; then
    echo "make fuzz needs clang with libFuzzer (Debian: clang and libclang-rt-14-dev); FUZZ_CLANG names another. make test runs the corpora without."
    exit 1
fi
test -f "$build/fuzz/build.ninja" ||
    cmake -G Ninja -S . -B "$build/fuzz" -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="${clang/%clang/clang++}" \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-g1 -O2" -DGNNC_FUZZ=ON -DGNNC_FUZZ_TOOLS="$(realpath "$build")/bin" >/dev/null
read -ra targets <<<"${FUZZ//,/ }"
targets=("${targets[@]/#/fuzz-}")
ninja -C "$build/fuzz" "${targets[@]:-fuzzers}"
[ "${2:-}" != --only-build ] || exit 0
FUZZ_BIN=$build/fuzz/bin/fuzz FUZZ_CORPUS=test/fuzz/corpus FUZZ_DICT=test/fuzz/gnn.dict FUZZ_OUT=$build/fuzz/out \
    scripts/fuzz_run.sh "${FUZZ_SECONDS:-300}" "${FUZZ_WORKERS:-1}"
