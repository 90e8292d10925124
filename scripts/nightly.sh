#!/usr/bin/env bash
# What takes too long for each merge, a part after the other, then a table of what became of each; status 1: one failed. Its output lies in
# BUILD/nightly/PART.log (NIGHTLY_OUT names another folder), ops that failed below it. NIGHTLY_SECONDS (3600) fuzzes so long in all, NIGHTLY_CASES (10000) is how many differential cases
# and graph files, NIGHTLY_SEED what they are drawn by (drawn itself, and printed), NIGHTLY_PARTS=malformed,fuzz takes those alone.
# Usage: nightly.sh BUILD [--list]
set -uo pipefail
build=$1
out=${NIGHTLY_OUT:-$1/nightly}
seconds=${NIGHTLY_SECONDS:-3600} cases=${NIGHTLY_CASES:-10000} seed=${NIGHTLY_SEED:-$((RANDOM * 32768 + RANDOM))}
python=${PYTHON:-python3}
export GNNC_CACHE_SIZE=0 # what is cached is not compiled

parts=(malformed differential renamed cache sweep simulated cliffs seeded fuzz asan)
command_of() {
    case $1 in
    malformed) echo "$python test/fuzz/malformed.py $build/bin/unit/read_many --cases $cases --seed $seed" ;;
    differential) echo "$python test/fuzz/differential.py $build/bin/gnnc --cases $cases --seed $seed --save $out/differential" ;;
    renamed) echo "$python test/fuzz/renamed.py $build/bin/gnnc --cases $((cases / 10)) --seed $seed --save $out/renamed" ;;
    cache) echo "$python test/driver/Inputs/cache_stress.py $build/bin/gnnc $out/cache --rounds=200 --seed=$seed" ;;
    simulated) echo "$python test/stdlib/simulated.py $build/bin/gnnc --level=each" ;;
    cliffs) echo "$python test/run/cliffs.py $build/bin/gnnc --level=full --random=200 --seed=$seed" ;;
    fuzz) echo "make -s fuzz BUILD=$build SECONDS=$seconds WORKERS=$(nproc)" ;;
    sweep | seeded | asan) echo "make -s $1 BUILD=$build" ;;
    *) return 1 ;;
    esac
}

chosen=("${parts[@]}")
[ -z "${NIGHTLY_PARTS:-}" ] || IFS=, read -ra chosen <<<"$NIGHTLY_PARTS"
for part in "${chosen[@]}"; do
    command_of "$part" >/dev/null || { echo "nightly: no part '$part'; there are: ${parts[*]}" && exit 2; }
done
echo "nightly: seed $seed, $cases cases, $seconds s of fuzzing"
mkdir -p "$out"
table=$(printf '%-13s %8s  %-7s %s' part seconds result 'last line') status=0
for part in "${chosen[@]}"; do
    command=$(command_of "$part") log=$out/$part.log began=$SECONDS result=good
    echo "$part: $command"
    [ "${2:-}" != --list ] || continue
    $command >"$log" 2>&1 || { result=FAILED status=1 && tail -n 20 "$log"; }
    table+=$(printf '\n%-13s %8d  %-7s %s' "$part" $((SECONDS - began)) $result "$(tail -n 1 "$log")")
done
[ "${2:-}" = --list ] || printf '\n%s\n' "$table"
exit $status
