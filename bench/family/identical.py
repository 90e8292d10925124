#!/usr/bin/env python3
"""Whether an op gives the same bits: in 20 launches over different garbage, and in processes of their own, by the default schedule.
Usage: identical.py [--graphs arxiv,reddit2] [--ops …] [--dtypes f32,f16] [--feats 32] [--launches 20] [--processes 3]"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile

import cases
import graphs
from family import ROOT, numbers, words


def digest(folder):
    """Of all results; None: there are none."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    hashed = hashlib.sha256()
    for name in names:
        with open(os.path.join(folder, name), "rb") as f:
            while block := f.read(1 << 24):
                hashed.update(block)
    return hashed.hexdigest() if names else None


def run(o, file, options, graph, folder):
    r = subprocess.run([o.gnnc, "run", os.path.join(ROOT, file), "-I", os.path.join(ROOT, "stdlib"), *options, "--graph=" + graph,
                        "--target=" + o.target, "--identical=%d" % o.launches, "--out=" + folder], capture_output=True, text=True)
    fault = next((line for line in r.stderr.splitlines() if "error" in line), "exit status %d" % r.returncode)
    return digest(folder), fault if r.returncode else None


def verdict_of(o, file, options, graph):
    digests = set()
    for _ in range(o.processes):
        with tempfile.TemporaryDirectory() as folder:
            found, fault = run(o, file, options, graph, folder)
        if fault:
            return fault
        digests.add(found)
    return "same bits" if len(digests) == 1 and None not in digests else "processes differ"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=words, default=["arxiv", "reddit2"])
    p.add_argument("--ops", type=words, default=["copy_e_sum", "copy_e_mean", "copy_e_max", "spmm", "copy_u_mean", "sddmm", "l2_distance", "edge_softmax"])
    p.add_argument("--dtypes", type=words, default=["f32", "f16"])
    p.add_argument("--feats", type=numbers, default=[32])
    p.add_argument("--launches", type=int, default=20)
    p.add_argument("--processes", type=int, default=3)
    p.add_argument("--most-gib", type=float, default=3)
    p.add_argument("--target", default="cuda")
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--data")
    p.add_argument("--made", default=os.path.join(tempfile.gettempdir(), "family-graphs"))
    o = p.parse_args()
    faults = 0
    for name in o.graphs:
        graph = graphs.path_of(name, o.made, o.data)
        nodes, edges = graphs.size_of(graph)
        for case in cases.select(cases.FAMILIES, o.ops, o.dtypes, o.feats):
            if cases.largest_bytes(case, nodes, edges) > o.most_gib * 2 ** 30:
                continue
            sizes = [x for k, v in cases.defines(case).items() for x in ("-D", "%s=%d" % (k, v))]
            verdict = verdict_of(o, cases.OPS[case.op].file, ["--op=" + case.op, "-D", "T=" + case.dtype, *sizes], graph)
            faults += verdict != "same bits"
            print("%-12s %-14s %-4s F=%-3d H=%d  %s" % (name, case.op, case.dtype, case.F, case.H, verdict), flush=True)
    print("%d launches in each of %d processes; %d cases differ or failed" % (o.launches, o.processes, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
