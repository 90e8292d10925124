#!/usr/bin/env python3
"""The library on a GPU: every op against its definition, and bit by bit against the host, over graphs, types and index widths.

  device_table.py GNNC OUT.json --graphs a.npz,b.npz,er:50:200 [--types f32,f16,bf16] [--indexes 32,64] [--jobs 8]
      [--sizes F=16,K=8] [-- more options of gnnc run]

A case is one `gnnc run FILE --check` on the GPU and one on the host for all ops of a file; results are compared as bytes, any NaN
being equal to any NaN. Prints a table of graphs by types and what went wrong; OUT.json holds every row.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIZES = "S=3,F=16,K=8,Q=8,H=2,D=8,J=4,P=5,B=8"
VERDICT = re.compile(r"^(\w+)\s+(\S+)\s+(?:f64|f32|bf16|f16|i32|i64|bool|index)\s+(.*?)\s+(right|wrong|refused|failed)\b.*$", re.M)


def call(gnnc, path, graph, dtype, index, target, out, more):
    command = [gnnc, "run", path, "--no-schedule", "--graph=" + graph, "-D", "T=" + dtype, "--index=" + index, "--target=" + target,
               "--out=" + out, "--max-errors=0"]
    if target == "cuda":
        command.append("--check")
    r = subprocess.run(command + more, capture_output=True, text=True, errors="replace", timeout=900)
    return r, " ".join(command + more)


def same_bits(a, b):
    x, y = numpy.load(a), numpy.load(b)
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.tobytes() == y.tobytes():
        return True
    if x.dtype.kind == "f":
        nan = numpy.isnan(x) & numpy.isnan(y)
        x, y = x[~nan], y[~nan]
        return x.tobytes() == y.tobytes()
    return False


def case(job):
    gnnc, path, graph, dtype, index, more = job
    row = {"file": os.path.basename(path), "graph": os.path.basename(graph), "type": dtype, "index": index, "right": 0, "refused": 0, "faults": []}
    with tempfile.TemporaryDirectory() as folder:
        cuda, host = os.path.join(folder, "cuda"), os.path.join(folder, "host")
        os.mkdir(cuda)
        os.mkdir(host)
        try:
            r, command = call(gnnc, path, graph, dtype, index, "cuda", cuda, more)
            call(gnnc, path, graph, dtype, index, "host", host, more)
        except subprocess.TimeoutExpired:
            row["faults"].append("timeout: " + path)
            return row
        for m in VERDICT.finditer(r.stdout):
            row["right"] += m.group(4) == "right"
            row["refused"] += m.group(4) == "refused"
            if m.group(4) not in ("right", "refused"):
                row["faults"].append(m.group(0))
        if r.returncode not in (0, 1) or (r.returncode == 1 and not row["refused"]) or not row["right"]:
            row["faults"].append("exit %d: %s: %s" % (r.returncode, command, r.stderr[-600:]))
        names = sorted(os.listdir(cuda))
        row["arrays"] = len(names)
        if names != sorted(os.listdir(host)):
            row["faults"].append("host and GPU wrote different results")
        for n in names:
            if os.path.exists(os.path.join(host, n)) and not same_bits(os.path.join(cuda, n), os.path.join(host, n)):
                row["faults"].append("bits differ: " + n)
    return row


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("out")
    p.add_argument("--graphs", required=True)
    p.add_argument("--types", default="f32,f16,bf16")
    p.add_argument("--indexes", default="32")
    p.add_argument("--jobs", type=int, default=8)
    p.add_argument("--sizes", default=SIZES)
    p.add_argument("more", nargs="*")
    args = p.parse_args()
    for s in args.sizes.split(","):
        args.more += ["-D", s]
    library = os.path.join(ROOT, "stdlib")
    files = [os.path.join(library, f) for f in sorted(os.listdir(library)) if f.endswith(".gnn") and f != "prelude.gnn"]
    jobs = [(args.gnnc, f, g, t, i, args.more) for g in args.graphs.split(",") for t in args.types.split(",") for i in args.indexes.split(",") for f in files]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(case, jobs))
    json.dump({"gnnc": subprocess.run([args.gnnc, "--version"], capture_output=True, text=True).stdout.strip(), "rows": rows}, open(args.out, "w"), indent=1)
    faults = 0
    print("%-24s %-6s %-5s %6s %8s %7s %7s" % ("graph", "type", "index", "right", "refused", "arrays", "faults"))
    for g in args.graphs.split(","):
        for t in args.types.split(","):
            for i in args.indexes.split(","):
                mine = [r for r in rows if r["graph"] == os.path.basename(g) and r["type"] == t and r["index"] == i]
                bad = sum(len(r["faults"]) for r in mine)
                faults += bad
                print("%-24s %-6s %-5s %6d %8d %7d %7d" % (os.path.basename(g), t, i, sum(r["right"] for r in mine), sum(r["refused"] for r in mine), sum(r.get("arrays", 0) for r in mine), bad))
    for r in rows:
        for f in r["faults"][:3]:
            print("%s %s %s %s: %s" % (r["file"], r["graph"], r["type"], r["index"], f))
    print("%d op runs right, %d faults" % (sum(r["right"] for r in rows), faults))
    sys.exit(1 if faults else 0)


main()
