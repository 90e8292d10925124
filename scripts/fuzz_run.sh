#!/usr/bin/env bash
# Runs fuzzers for SECONDS on WORKERS (nproc) processors: all targets at once, or in turns where there are fewer processors; FUZZ=parse,ir takes
# those alone. Needs bash, coreutils, find, awk, grep and gzip. A line a target tells what was done; status 1: something was found, its input is
# in OUT/found, and printed, and what was said of it is in OUT/log. New inputs go into OUT/corpus/TARGET, which another run goes on with;
# OUT/report.txt has what this run said, OUT/spent.txt the lines of all runs, whose processor seconds are added up at the end. SIGINT and SIGTERM
# end it as the time would. What it reads is beside it, as scripts/fuzz_pack.sh puts it, or named: FUZZ_BIN, FUZZ_CORPUS, FUZZ_DICT, FUZZ_OUT.
# Usage: run.sh SECONDS [WORKERS]
set -uo pipefail
export LC_ALL=C # times and awk agree on what a fraction looks like
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:?how many seconds} workers=${2:-$(nproc)}
bin=${FUZZ_BIN:-$here/bin} seeds=${FUZZ_CORPUS:-$here/corpus} dictionary=${FUZZ_DICT:-$here/gnn.dict} out=${FUZZ_OUT:-$here/out}
mkdir -p "$out/found" "$out/log"
rm -f "$out"/log/* "$out/report.txt"
if [ -n "$(find "$bin" -name '*.gz')" ]; then # a pack has them compressed
    mkdir -p "$out/bin"
    for program in "$bin"/*.gz; do
        gunzip -c "$program" >"$out/bin/$(basename "$program" .gz)"
    done
    chmod +x "$out"/bin/*
    bin=$out/bin
fi
targets=${FUZZ:-$(cd "$bin" && echo *)}
read -ra targets <<<"${targets//,/ }"

# A machine without the libraries, or with an older C library, takes those brought along.
start=()
if [ -d "$here/lib" ]; then
    export LD_LIBRARY_PATH=$here/lib
    if ! "$bin/${targets[0]}" -help=1 >/dev/null 2>&1; then
        unset LD_LIBRARY_PATH
        start=("$here/lib/c/ld-linux-x86-64.so.2" --library-path "$here/lib/c:$here/lib")
    fi
fi

# Where no process may look into another one, no leaks are looked for.
if [[ $("${start[@]}" "$bin/${targets[0]}" -runs=1 -artifact_prefix="$out/log/" 2>&1) == *"LeakSanitizer has encountered a fatal error"* ]]; then
    echo "leaks are not looked for: this machine lets no process look into another"
    export ASAN_OPTIONS=detect_leaks=0
fi

# One process after the other until the time is over: a finding ends a process.
work() { # target, number, seconds
    local t=$1 log=$out/log/$1-$2 end=$((SECONDS + $3)) run=0 left longest=2048 options=() fuzzer='' stop='' status
    case $t in readers | manifest | options) ;; *) options=(-dict="$dictionary") ;; esac
    case $t in manifest) longest=8192 ;; pipeline) longest=4096 ;; esac
    case $t in pipeline) options+=(-entropic=0) ;; esac # which costs as much as an input where there are many features
    trap 'stop=1; kill $fuzzer 2>/dev/null' TERM
    while left=$((end - SECONDS)) && [ $left -gt 0 ] && [ $run -lt 20 ] && [ -z "$stop" ]; do
        "${start[@]}" "$bin/$t" -max_total_time=$left -seed=$((RANDOM * 32768 + RANDOM + 1)) -reload=1 -max_len=$longest \
            -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 "${options[@]}" -artifact_prefix="$out/found/$t-" \
            "$out/corpus/$t" "$seeds/$t" >"$log-$run.log" 2>&1 &
        fuzzer=$!
        wait $fuzzer
        status=$?
        [ -z "$stop" ] || wait $fuzzer # the first one was interrupted
        [ -n "$stop" ] || [ $status = 0 ] || echo $status >"$log-$run.failed"
        run=$((run + 1))
    done
    times >"$log.times" # of this subshell, then of its processes
}

input_of() { awk -F 'Test unit written to ' 'NF == 2 { found = $2 } END { print found }' "$1"; } # log

# What was said of it, and its input, for the machine may be gone when somebody looks.
finding() { # target, log, input
    grep -h -m 2 -E 'ERROR: |runtime error:|ICE|internal error|Test unit written' "$2" | sed 's/^/    /'
    [ -f "$3" ] || return 0
    echo "    replay: $bin/$1 $3"
    echo "    the input: echo $(gzip -9nc "$3" | base64 -w 0) | base64 -d | gunzip >INPUT"
}

report() { # target
    local t=$1 failed log input told=' '
    compgen -G "$out/log/$t-*.times" >/dev/null || return 0 # its turn has not come
    failed=$(find "$out/log" -name "$t-*.failed" | wc -l)
    cat "$out"/log/"$t"-*.log | awk -v t="$t" -v failed="$failed" -v cpu="$(awk 'FNR == 2 { gsub(/[ms]/, " "); n += $1 * 60 + $2 + $3 * 60 + $4 } END { print int(n) }' "$out"/log/"$t"-*.times)" '
        /^stat::number_of_executed_units/ { runs += $2 }
        / cov: / { for (i = 1; i < NF; i++) { if ($i == "cov:" && $(i + 1) > cov) cov = $(i + 1); if ($i == "ft:" && $(i + 1) > ft) ft = $(i + 1) } }
        END { printf "%-9s %6d s of processor, %9d inputs, %5d a second, coverage %d, features %d, %d findings\n",
                  t, cpu, runs, cpu ? runs / cpu : 0, cov, ft, failed }'
    find "$out/log" -name "$t-*.failed" | sort -V | while read -r log; do
        input=$(input_of "${log%.failed}.log")
        [[ $told != *" $input "* ]] || continue
        told+=" $input "
        finding "$t" "${log%.failed}.log" "$input"
    done
}

# Processor seconds of all runs whose lines are in a file.
sum() {
    awk '/ s of processor, / { spent[$1] += $2; spent["together"] += $2 } END { for (t in spent) print t, spent[t] " s" }' "$1" |
        sort | paste -s -d ,
}

stopped=''
trap 'stopped=1; kill $(jobs -p) 2>/dev/null' INT TERM
echo "date: $(date -u +%FT%TZ), $(nproc) processors, $workers taken, $seconds s: ${targets[*]}" | tee -a "$out/spent.txt" "$out/report.txt"
at_once=$workers
[ "$at_once" -le ${#targets[@]} ] || at_once=${#targets[@]}
turns=$(((${#targets[@]} + at_once - 1) / at_once))
for ((first = 0; first < ${#targets[@]} && !stopped; first += at_once)); do
    for ((k = 0; k < workers; k++)); do
        i=$((first + k % at_once))
        [ $i -lt ${#targets[@]} ] || continue
        mkdir -p "$out/corpus/${targets[$i]}"
        work "${targets[$i]}" $k $((seconds / turns)) &
    done
    wait
    [ -z "$stopped" ] || wait # until what was told to stop has
done
for t in "${targets[@]}"; do report "$t"; done | tee -a "$out/spent.txt" "$out/report.txt"
findings=$(find "$out/log" -name '*.failed' | wc -l)
echo "all runs of $out/spent.txt: $(sum "$out/spent.txt")"
echo "${#targets[@]} targets, $findings findings" | tee -a "$out/report.txt"
[ "$findings" = 0 ]
