#!/usr/bin/env python3
"""The error of products of rows by the matrix of their type against f64, for each operand of `mma` and without it, of normal numbers: the root of
the mean square of the error, and the largest one, over the root of the mean square of the result. Stored in 16 bits, inputs are rounded before and
results afterwards; what rounding the exact result costs is the row `rounded once`.
Usage: errors.py [--depths=64,256] [--target=sim]"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

import segments

sys.path.insert(0, os.path.join(segments.ROOT, "bench", "family"))
from sums16 import rounded   # to f16 and bf16

TYPES, COLUMNS = 4, 64
DEPTH = {"fwd": "k", "dx": "q", "dw": "e"}
MODES = {"f32": (None, "tf32x3", "tf32", "f16", "bf16", "tf32 m64k8"), "f16": ("f16", "f16 m64k16"), "bf16": ("bf16", "bf16 m64k16")}


def schedule(what, operand, depth):
    """Two pieces of rows a block; operations of four warps have all columns and all of the depth."""
    if what == "dw":
        return "block r 1;  %s" % ("mma e %s;" % operand if operand else "groups k 8;  lanes q 32;")
    columns, sums = ("q", "k") if what == "fwd" else ("k", "q")
    if not operand:
        return "block e 32 by type;  groups e 8;  lanes %s 32;" % columns
    if "m64" in operand:
        return "block e 64 by type;  groups e 4;  registers %s %d;  registers %s %d;  mma %s %s;" % (columns, COLUMNS // 4, sums, depth // 4, sums, operand)
    return "block e 32 by type;  mma %s %s;" % (sums, operand)


def shapes(what, depth):
    """Rows of a type, K and Q, so that each result sums so many products."""
    return (depth, COLUMNS, COLUMNS) if what == "dw" else (32, *((depth, COLUMNS) if what == "fwd" else (COLUMNS, depth)))


def inputs(what, depth, dtype):
    n, K, Q = shapes(what, depth)
    of = {"x": (TYPES * n, K), "g": (TYPES * n, Q), "w": (TYPES, K, Q)}
    make = np.random.default_rng(depth)
    made = {name: make.standard_normal(shape).astype(np.float32) for name, shape in of.items()}
    return {name: a.astype(np.float64) if dtype == "f32" else rounded(a.astype(np.float64), dtype) for name, a in made.items()}


def exact(what, a):
    by = lambda m: m.reshape(TYPES, -1, m.shape[-1])
    if what == "dw":
        return np.einsum("ren,rem->rnm", by(a["x"]), by(a["g"]))
    y = np.einsum("ren,rnm->rem", by(a["x"]), a["w"]) if what == "fwd" else np.einsum("rem,rnm->ren", by(a["g"]), a["w"])
    return y.reshape(-1, y.shape[-1])


def computed(o, folder, what, dtype, operand, depth, a):
    n, K, Q = shapes(what, depth)
    source, graph = os.path.join(folder, "e.gnn"), os.path.join(folder, "types.npz")
    with open(os.path.join(segments.HERE, "segments.gnn")) as ops, open(source, "w") as out:
        out.write(ops.read() + "schedule %s s { %s }\n" % (what, schedule(what, operand, depth)))
    np.savez(graph, rowptr=np.arange(TYPES + 1, dtype=np.int32) * n, col=np.zeros(TYPES * n, np.int32))
    taken = {"fwd": "xw", "dx": "gw", "dw": "xg"}[what]
    for name in taken:
        np.save(os.path.join(folder, name + ".npy"), a[name].astype(np.float32))
    command = [o.gnnc, "run", source, "--op=" + what, "--schedule=s", "--plan=s", "--graph=" + graph, "--param=type=@row", "--target=" + o.target, "--out=" + folder,
               "-D", "R=%d" % TYPES, "-D", "K=%d" % K, "-D", "Q=%d" % Q, "-D", "T=" + dtype, "--arch=" + o.arch,
               *("--param=%s=%s" % (name, os.path.join(folder, name + ".npy")) for name in taken)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return np.load(os.path.join(folder, "%s_%s.%s.npy" % (what, dtype, {"fwd": "y", "dx": "x", "dw": "w"}[what]))).astype(np.float64)


def cell(got, want):
    size = np.sqrt(np.mean(want ** 2))
    return "%.1e, %.1e" % (np.sqrt(np.mean((got - want) ** 2)) / size, np.abs(got - want).max() / size)


def row(o, folder, dtype, mode, depths):
    cells = []
    for what in segments.PASSES:
        for depth in depths:
            a = inputs(what, depth, dtype)
            want = exact(what, a)
            four = mode and "m64" in mode
            cells.append("–" if four and what == "dw" else cell(rounded(want, dtype) if mode == "rounded once" else computed(o, folder, what, dtype, mode, depth, a), want))
    return "| %s | %s | %s |" % (dtype, mode or "f32, no `mma`", " | ".join(cells))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--depths", default="64,256", help="products a sum has")
    p.add_argument("--target", default="sim")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--gnnc", default=os.path.join(segments.ROOT, "build", "bin", "gnnc"))
    o = p.parse_args()
    depths = [int(d) for d in o.depths.split(",")]
    names = {"fwd": "forward", "dx": "dX", "dw": "dW"}
    print("| stored in | multiplied in | %s |" % " | ".join("%s %d" % (names[w], d) for w in segments.PASSES for d in depths))
    print("|---|---|%s" % ("--:|" * 3 * len(depths)))
    with tempfile.TemporaryDirectory() as folder:
        for dtype, modes in MODES.items():
            for mode in modes + (("rounded once",) if dtype != "f32" else ()):
                print(row(o, folder, dtype, mode, depths), flush=True)


if __name__ == "__main__":
    main()
