#!/usr/bin/env python3
"""Nodes with a million edges: gt and gat, forward and backward, on graphs that have some, beside a graph of
rows of one length with as many nodes and edges. Where one row has half the edges or more all results are
compared, else a sample. Lines of JSON are added to --out; what is there is not timed again.

    supernodes.py --jobs=8 --out=supernodes.jsonl"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import sys
import tempfile
import time

import numpy as np

import ops

KEY = ("graph", "op", "dtype", "H", "D", "pass")
GRAPHS = {
    "into": "all edges into one node",
    "from": "all edges from one node, to all nodes alike",
    "row": "a row of half the edges; all others have one length",
    "hubs": "edges from hubs to leaves and from leaves to hubs, hubs by 1 / rank",
}


def words(text):
    return text.split(",")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graphs", type=words, default=list(GRAPHS), help="of " + ", ".join(GRAPHS))
    p.add_argument("--ops", type=words, default=["gt", "gat"])
    p.add_argument("--shapes", type=words, default=["1x64", "8x8"])
    p.add_argument("--dtypes", type=words, default=["f32", "f16"])
    p.add_argument("--nodes", type=int, default=1 << 16)
    p.add_argument("--long", type=int, default=1_000_000, help="edges of the long row")
    p.add_argument("--hubs", type=int, default=256)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument(
        "--made", default=os.path.join(tempfile.gettempdir(), "supernodes"), help="folder of the graphs"
    )
    p.add_argument("--out", default="supernodes.jsonl")
    p.add_argument("--table", action="store_true", help="time nothing")
    ops.add_options(p)
    return p.parse_args()


def edges_of(name, nodes, long, hubs):
    """(sources, targets), drawn by a seed."""
    draw = np.random.default_rng(1)

    def anywhere(count):
        return draw.integers(0, nodes, count)

    def alike(count):
        return np.arange(count) * nodes // count

    def hub(count):
        weights = 1 / (1 + np.arange(hubs))
        return draw.choice(hubs, count, p=weights / weights.sum())

    def leaf(count):
        return draw.integers(hubs, nodes, count)

    if name == "into":
        return anywhere(long), np.zeros(long, int)
    if name == "from":
        return np.zeros(long, int), alike(long)
    if name == "row":
        return anywhere(2 * long), np.concatenate([np.zeros(long, int), alike(long)])
    if name == "hubs":
        return np.concatenate([hub(long), leaf(long)]), np.concatenate([leaf(long), hub(long)])
    return anywhere(long), alike(long)  # even


def make(o, name):
    """The file of a graph: offsets of targets, sources."""
    long = int(name.split("-")[1]) if "-" in name else o.long
    path = os.path.join(o.made, "%s-%d-%d-%d.npz" % (name, o.nodes, long, o.hubs))
    if not os.path.exists(path):
        os.makedirs(o.made, exist_ok=True)
        sources, targets = edges_of(name.split("-")[0], o.nodes, long, o.hubs)
        order = np.lexsort((sources, targets))
        rowptr = np.concatenate([[0], np.bincount(targets, minlength=o.nodes).cumsum()])
        np.savez(path + ".part.npz", rowptr=rowptr.astype(np.int32), col=sources[order].astype(np.int32))
        os.rename(path + ".part.npz", path)
    return path


def even_of(o, name):
    """The balanced graph beside it."""
    return "even-%d" % (o.long * (1 if name in ("into", "from") else 2))


def measure(o):
    record, end, turns = ops.Record(o.out, KEY, o.again), time.time() + o.seconds, o.out + ".turns"
    names = o.graphs + sorted({even_of(o, name) for name in o.graphs})
    paths = {make(o, name): name for name in names}

    sampled = [p for p, n in paths.items() if n == "hubs" or n.startswith("even")]
    whole = [
        [p] for p in paths if p not in sampled
    ]  # one row would be missed by a sample; the evaluator takes long: a process each

    def one(case, which, some, budget):
        def told(_, path, row):
            record.add(graph=paths[path], **case._asdict(), **{"pass": which}, who="gnnc", **row)

        left = [p for p in some if not record.has(graph=paths[p], **case._asdict(), **{"pass": which})]
        if left and time.time() < end:
            op = ops.OPS[case.op]
            ops.bench(
                o,
                op.file,
                [op.name + ops.PASSES[which]],
                case,
                left,
                turns,
                end - time.time(),
                told,
                budget=budget,
            )

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        begun = [
            pool.submit(one, c, which, some, budget)
            for c in ops.select(o.ops, o.dtypes, o.shapes)
            for which in ops.PASSES
            for some, budget in [(sampled, None)] + [(one_, 1 << 40) for one_ in whole]
        ]
        for each in begun:
            each.result()
    with contextlib.suppress(FileNotFoundError):
        os.remove(turns)


def table(o):
    with open(o.out) as f:
        rows = {tuple(r.get(k) for k in KEY): r for r in map(json.loads, f)}
    wrong = 0
    print(
        "%-6s %-5s %-6s %-9s %-6s %10s %9s %9s %6s  %s"
        % ("op", "type", "shape", "pass", "graph", "us", "ns/edge", "even", "x", "verdict")
    )
    for (graph, op, dtype, H, D, which), row in sorted(
        rows.items(), key=lambda r: [str(x) for x in (r[0][1:], r[0][0])]
    ):
        wrong += row["verdict"] != "right"
        if graph.startswith("even"):
            continue
        even = rows.get((even_of(o, graph), op, dtype, H, D, which), {})
        figures = ["-"] * 4
        if "cold_ms" in row:
            ours, beside = (1e6 * r["cold_ms"] / r["edges"] if "cold_ms" in r else None for r in (row, even))
            figures = [
                "%.1f" % (1e3 * row["cold_ms"]),
                "%.3f" % ours,
                *(("%.3f" % beside, "%.2f" % (ours / beside)) if beside else ("-", "-")),
            ]
        all_ = "" if row.get("one_in", 1) < 2 else ", one in %d" % row["one_in"]
        print(
            "%-6s %-5s %-6s %-9s %-6s %10s %9s %9s %6s  %s%s"
            % (op, dtype, "%dx%d" % (H, D), which, graph, *figures, row["verdict"], all_)
        )
    print("\n" + "\n".join("%-5s %s" % (name, GRAPHS[name]) for name in o.graphs))
    return 1 if wrong else 0


def main():
    o = parse()
    if not o.table:
        measure(o)
    return table(o)


if __name__ == "__main__":
    sys.exit(main())
