#!/usr/bin/env python3
"""Whether attention gives the same bits, forward and backward: in 20 launches over different garbage, and in
processes of their own, by the default schedule. What bench/family/identical.py does, for the ops that are
here."""

import argparse
import concurrent.futures
import os
import sys
import tempfile
import time

import ops

import graphs
import identical


def words(text):
    return text.split(",")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=words, default=["arxiv", "pattern1024"], help="as attention.py has them")
    p.add_argument("--ops", type=words, default=["gt", "gat", "gatv2", "agnn"])
    p.add_argument("--shapes", type=words, default=["1x128", "8x16"])
    p.add_argument("--dtypes", type=words, default=["f32", "f16"])
    p.add_argument("--launches", type=int, default=20)
    p.add_argument("--processes", type=int, default=3)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--seconds", type=float, default=540, help="nothing begins after so long")
    p.add_argument("--target", default="cuda")
    p.add_argument("--gnnc", default=os.path.join(ops.ROOT, "build", "bin", "gnnc"))
    p.add_argument("--data")
    p.add_argument("--made", default=os.path.join(tempfile.gettempdir(), "family-graphs"))
    return p.parse_args()


def main():
    o = parse()
    end = time.time() + o.seconds
    paths = {name: name if ":" in name else graphs.path_of(name, o.made, o.data) for name in o.graphs}
    cases = [
        (name, case, which)
        for name in o.graphs
        for case in ops.select(o.ops, o.dtypes, o.shapes)
        for which in ("saving", "backward")
    ]

    def verdict(name, case, which):
        if time.time() > end:
            return "not begun"
        op = ops.OPS[case.op]
        return identical.verdict_of(
            o, op.file, ["--op=" + op.name + ops.PASSES[which], *ops.defines(case)], paths[name]
        )

    faults = left = 0
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        begun = [(c, pool.submit(verdict, *c)) for c in cases]
        for (name, case, which), each in begun:
            found = each.result()
            left += found == "not begun"
            faults += found not in ("same bits", "not begun")
            print(
                "%-12s %-6s %-4s %-6s %-8s %s"
                % (name, case.op, case.dtype, "%dx%d" % (case.H, case.D), which, found),
                flush=True,
            )
    print(
        "%d launches in each of %d processes; %d cases differ or failed, %d did not begin"
        % (o.launches, o.processes, faults, left)
    )
    return 1 if faults or left else 0


if __name__ == "__main__":
    sys.exit(main())
