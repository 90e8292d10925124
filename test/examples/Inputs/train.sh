#!/bin/sh
# Trains by the command given twice: it prints the same losses, the last of which is well below the first.
# Usage: train.sh COMMAND [ARGUMENT]...
set -e
once=$(mktemp) && twice=$(mktemp)
trap 'rm -f "$once" "$twice"' EXIT
"$@" > "$once"
"$@" > "$twice"
grep '^epoch' "$once" > "$once.loss"
grep '^epoch' "$twice" | diff "$once.loss" -
rm -f "$once.loss"
cat "$once"
awk '/^epoch/ { if (!n++) first = $4; last = $4 } END { exit !(n > 1 && last < 0.95 * first) }' "$once"
