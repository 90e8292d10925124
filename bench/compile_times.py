#!/usr/bin/env python3
"""What gnnc takes from an op to PTX and to a cubin: whole processes, medians, wall time and processor time in ms.

Ahead of time means all versions, for sizes that are not known. For a graph means --for-graph with sizes by -D.
"""
import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPS = {   # name: source, sizes
    "spmm": ("spmm.gnn", ["-DF=64"]),
    "gat": ("attention.gnn", ["-DH=4", "-DD=32"]),
    "gt": ("attention.gnn", ["-DH=4", "-DD=32"]),
    "gt.grad": ("attention.gnn", ["-DH=4", "-DD=32"]),
}


def processor_seconds():
    of = resource.getrusage(resource.RUSAGE_CHILDREN)
    return of.ru_utime + of.ru_stime


def times(command, repeat):
    """Medians of wall and processor time, in ms."""
    walls, users = [], []
    for _ in range(repeat):
        before, began = processor_seconds(), time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - began)
        users.append(processor_seconds() - before)
    return 1e3 * statistics.median(walls), 1e3 * statistics.median(users)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--graph", default="rmat:8:8")
    p.add_argument("--repeat", type=int, default=7)
    o = p.parse_args()
    print("| what | form | " + " | ".join("%s wall, user" % n for n in OPS) + " |")
    print("|---|---|" + "--:|" * len(OPS))
    with tempfile.TemporaryDirectory() as folder:
        for graph in (False, True):
            for form in ("ptx", "cubin"):
                row = []
                for name, (source, sizes) in OPS.items():
                    command = [o.gnnc, os.path.join(ROOT, "stdlib", source), "--op=" + name, "-DT=f32", "--arch=" + o.arch,
                               "--emit=" + form, "--no-cache", "-o", os.path.join(folder, "out")]
                    command += sizes + ["--for-graph=" + o.graph] if graph else []
                    row.append("%.0f, %.0f" % times(command, o.repeat))
                print("| %s | %s | %s |" % ("for a graph" if graph else "ahead of time", form, " | ".join(row)))


if __name__ == "__main__":
    main()
