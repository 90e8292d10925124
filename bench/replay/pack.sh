#!/bin/sh
# Packs of at least 20 000 runs over the library and over random ops, in files of 8 MiB and 56 MiB at most together, beside the program that
# executes them. A run is one version of one compiled case on one graph. Usage: bench/replay/pack.sh BUILD FOLDER [CASES [SEED]]
set -e
build=$1 folder=$2 cases=${3:-2000} seed=${4:-1}
root=$(dirname "$0")/../..
mkdir -p "$folder"
python3 "$root/test/fuzz/differential.py" "$build/bin/gnnc" --cases "$cases" --seed "$seed" --pack "$folder/cases" --pack-size 8 --until 56 \
    --save "$folder/ops"
cp "$build/bin/gnnc-replay" "$folder/"
ls -l "$folder"
