#!/usr/bin/env bash
# Compiles the library's GAT, runs it on Cora and compares every result with the op's definition. Usage: demo.sh BUILD
set -euo pipefail
build=$1
out=$build/demo
gnnc=$build/bin/gnnc
source=stdlib/attention.gnn
graph=test/data/cora.npz
mkdir -p "$out"

size() { printf '  %-28s %8d bytes\n' "$1" "$(stat -c %s "$1")"; }

echo "== compile: gnnc $source --op gat"
"$gnnc" compile --emit=ptx,manifest --op gat -o "$out/gat.ptx" "$source"
size "$out/gat.ptx"
size "$out/gat.json"
if "$gnnc" doctor | grep -q '^assembler   none'; then
    echo "  no cubin: there is no assembler here ('gnnc doctor' says what to install)"
else
    "$gnnc" compile --emit=cubin --op gat -o "$out/gat.cubin" "$source"
    size "$out/gat.cubin"
fi

echo "== graph"
"$gnnc" inspect "$graph"

echo "== run on this machine's cores"
"$gnnc" run "$source" --op gat --graph "$graph" -D H=8 -D D=8 --target=host --check
if "$gnnc" doctor | grep -q '^GPU         none'; then
    echo "== no GPU is found here, so nothing runs on one"
else
    echo "== run on the GPU"
    "$gnnc" run "$source" --op gat --graph "$graph" -D H=8 -D D=8 --target=cuda --arch=native --check
fi
