#!/usr/bin/env bash
# Fuzzes for SECONDS (300) in all, a target after the other: FUZZ=parse,readers takes those alone. A fault ends the run with status 1;
# what made it lies in BUILD/fuzz/found. New inputs go into BUILD/fuzz/corpus/TARGET. Installs nothing. Usage: fuzz.sh BUILD
set -euo pipefail
build=$1 seconds=${FUZZ_SECONDS:-300}
clang=$(command -v "${FUZZ_CLANG:-clang}" || true)
if [ -z "$clang" ] || ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d != 0 && n == -1; }' |
    "$clang" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null; then
    echo "make fuzz needs clang with libFuzzer (Debian: clang and libclang-rt-14-dev); FUZZ_CLANG names another. make test runs the corpora without."
    exit 1
fi
test -f "$build/fuzz/build.ninja" ||
    cmake -G Ninja -S . -B "$build/fuzz" -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="${clang/%clang/clang++}" \
        -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-g1 -O1" -DGNNC_FUZZ=ON -DGNNC_FUZZ_TOOLS="$(realpath "$build")/bin" >/dev/null
targets=${FUZZ:-$(cd test/fuzz && for f in fuzz_*.c; do f=${f#fuzz_}; echo "${f%.c}"; done)}
targets=(${targets//,/ })
ninja -C "$build/fuzz" "${targets[@]/#/fuzz-}"
mkdir -p "$build/fuzz/found"
for t in "${targets[@]}"; do
    mkdir -p "$build/fuzz/corpus/$t"
    dictionary=(test/fuzz/gnn.dict)
    case $t in readers | manifest | options) dictionary=() ;; esac
    log=$build/fuzz/$t.log
    if "$build/fuzz/bin/fuzz/$t" -max_total_time=$((seconds / ${#targets[@]})) -max_len=2048 -timeout=20 -rss_limit_mb=2048 \
        "${dictionary[@]/#/-dict=}" -print_final_stats=1 -artifact_prefix="$build/fuzz/found/$t-" \
        "$build/fuzz/corpus/$t" "test/fuzz/corpus/$t" >"$log" 2>&1; then
        echo "$t: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs, $(sed -n 's/^stat::average_exec_per_sec: *//p' "$log") a second, no fault"
    else
        echo "$t: a fault; $log tells, the input is in $build/fuzz/found"
        exit 1
    fi
done
