#!/usr/bin/env python3
"""The error of sums over long rows stored in 16 bits, by each way of sums16.gnn to hold them, against f64: of all terms one sign, so that
sums of f16 come near its end or beyond. Only f16 without a factor may do so: elsewhere an Inf or NaN makes the exit status 1.
Usage: sums16.py [--graph reddit2] [--feats 32] [--target cuda]"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

import graphs

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
MAY_OVERFLOW = ("f16", "all_f16")
TOP = {"copy_u_sum": 4}   # terms below this, else below 32: a sum has to fit where it is the result


def modes(text):
    """(op, schedules) of the file; None stands for the default, which holds sums in f32."""
    found = {}
    for op, schedule in re.findall(r"^schedule (\w+) (\w+)", text, re.M):
        found.setdefault(op, [None]).append(schedule)
    return found.items()


def sources(folder):
    """The text, and files with its ops: by the default where a file has no schedule of its own."""
    path = os.path.join(HERE, "sums16.gnn")
    text, plain = open(path).read(), os.path.join(folder, "plain.gnn")
    with open(plain, "w") as f:
        f.write(re.sub(r"^schedule .*\n", "", text, flags=re.M))
    return text, path, plain


def references(rowptr, col, x, count=2000):
    """Rows with edges, the longest among them, and the sums of their terms in f64."""
    degree = np.diff(rowptr)
    filled = np.flatnonzero(degree)
    rows = np.unique(np.concatenate([filled[np.linspace(0, len(filled) - 1, min(count, len(filled))).astype(int)], degree.argsort()[-50:]]))
    rows = rows[degree[rows] > 0]
    return rows, degree[rows, None], np.stack([x[col[rowptr[v]:rowptr[v + 1]]].astype(np.float64).sum(0) for v in rows])


def stored(o, folder, source, graph, op, schedule, dtype, x_path):
    command = [o.gnnc, "run", source, "-I", os.path.join(ROOT, "stdlib"), "--op=" + op, "--graph=" + graph,
               "-D", "F=%d" % o.feats, "-D", "T=" + dtype, "--target=" + o.target, "--param", "x=" + x_path, "--out=" + folder]
    r = subprocess.run(command + (["--schedule=" + schedule] if schedule else []), capture_output=True, text=True)
    if r.returncode:
        raise RuntimeError(next((line for line in r.stderr.splitlines() if "error" in line), "exit status %d" % r.returncode))
    return np.load(os.path.join(folder, "%s_%s.y.npy" % (op, dtype))).astype(np.float64)


def rounded(want, dtype):
    """What rounding the result alone costs."""
    if dtype == "f16":
        return want.astype(np.float16).astype(np.float64)
    word = want.astype(np.float32).view(np.uint32)
    return ((word + 0x7fff + (word >> 16 & 1)) & 0xffff0000).astype(np.uint32).view(np.float32).astype(np.float64)


def line(op, dtype, mode, y, got, want):
    with np.errstate(invalid="ignore"):   # of Inf and NaN
        error = np.abs(got - want) / np.abs(want).clip(1e-30)
    fine = np.isfinite(error)
    inf, nan = int(np.isinf(y).sum()), int(np.isnan(y).sum())
    print("%-12s %-5s %-12s %12.2e %12.2e %9d %9d" % (op, dtype, mode, error[fine].max(initial=0), error[fine].mean() if fine.any() else 0,
                                                  inf, nan), flush=True)
    return inf + nan


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graph", default="reddit2")
    p.add_argument("--feats", type=int, default=32)
    p.add_argument("--ops", type=lambda text: text.split(","), help="of copy_u_sum, copy_u_mean, degree_mean")
    p.add_argument("--target", default="cuda")
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--data")
    p.add_argument("--made", default=os.path.join(tempfile.gettempdir(), "family-graphs"))
    o = p.parse_args()
    path = graphs.path_of(o.graph, o.made, o.data)
    with np.load(path) as z:
        rowptr, col = z["rowptr"], z["col"]
    print("%s: %d edges, at most %d of a row; relative errors of a sample" % (o.graph, len(col), np.diff(rowptr).max()))
    print("%-12s %-5s %-12s %12s %12s %9s %9s" % ("op", "type", "sums", "largest", "mean", "Inf", "NaN"))
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        text, scheduled, plain = sources(folder)
        for op, schedules in modes(text):
            if o.ops and op not in o.ops:
                continue
            x = np.random.default_rng(0).integers(1, 256, (len(rowptr) - 1, o.feats)).astype(np.float32) * (TOP.get(op, 32) / 256)
            x_path = os.path.join(folder, "x.npy")
            np.save(x_path, x)   # 8 bits a number: exact in both types
            rows, degree, want = references(rowptr, col, x)
            want = want if op == "copy_u_sum" else want / degree
            for dtype in ("f16", "bf16"):
                line(op, dtype, "rounded once", want, rounded(want, dtype), want)
                for schedule in schedules:
                    try:
                        y = stored(o, folder, scheduled if schedule else plain, path, op, schedule, dtype, x_path)
                    except RuntimeError as why:
                        print("%-12s %-5s %-12s %s" % (op, dtype, schedule or "default", why))
                        faults += 1
                        continue
                    bad = line(op, dtype, schedule or "default", y, y[rows], want)
                    faults += bad if schedule not in MAY_OVERFLOW else 0
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
