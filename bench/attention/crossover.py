#!/usr/bin/env python3
"""Which way to attend is the fastest, by the rows' length. Every schedule of ways.gnn is timed on graphs whose
average degree grows, random ones (er) and batches of small ones (batch) whose density grows with it; lines of
JSON are added to --out, and an SVG a shape, type and kind of graph is drawn of what they hold: time per edge
against the average degree, a curve a way.

    crossover.py --shapes=1x128,8x16 --dtypes=f32,f16 --jobs=12 --out=crossover.jsonl --svg=FOLDER
    crossover.py --draw --out=crossover.jsonl --svg=FOLDER"""

import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import re
import time

import ops

KEY = ("graph", "way", "dtype", "H", "D")
WAYS = os.path.join("bench", "attention", "ways.gnn")
BATCH = 128  # nodes of a batch's graphs, on average
TITLES = {"er": "random graphs", "batch": "batches of graphs of 128 nodes on average"}
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#b8860b", "#7b4ea3", "#444444", "#e07b39", "#17a2a2", "#8c6d46")


def words(text):
    return text.split(",")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--ways", type=words, help="only these schedules; without, all of the file, and `default`")
    p.add_argument("--file", default=WAYS, help="schedules of gt")
    p.add_argument("--shapes", type=words, default=["1x128", "8x16"])
    p.add_argument("--dtypes", type=words, default=["f32", "f16"])
    p.add_argument(
        "--kinds",
        type=words,
        default=["er", "batch"],
        help="er, batch; or files and generators of --graphs alone",
    )
    p.add_argument(
        "--degrees", type=words, default=["2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "2048"]
    )
    p.add_argument("--edges", type=int, default=1 << 21, help="of each graph")
    p.add_argument("--graphs", type=words, default=[], help="further .npz files or generators")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--out", default="crossover.jsonl")
    p.add_argument("--svg", help="folder of the drawings")
    p.add_argument("--draw", action="store_true", help="time nothing")
    ops.add_options(p)
    return p.parse_args()


def ways_of(file):
    """{way: schedules to try, by whether the type has 16 bits}"""
    with open(os.path.join(ops.ROOT, file)) as f:
        text = f.read()
    parts = {name for use in re.findall(r"\buse ([\w, ]+?)(?: above| fused|;)", text) for name in use.split(", ")}
    names = [name for name in re.findall(r"^schedule gt (\w+)", text, re.M) if name not in parts]
    ways = {name: {False: [name], True: [name]} for name in names if not name.endswith("_16")}
    for name in names:
        if name.endswith("_16"):
            ways[name[:-3]][True].insert(0, name)
    return {**ways, "default": {False: [None], True: [None]}}


def graphs_of(o):
    """A batch's graphs of 128 nodes cannot have more."""
    made = []
    for degree in map(int, o.degrees):
        nodes = max(o.edges // degree, BATCH)
        if "er" in o.kinds and degree <= nodes // 2:
            made.append("er:%d:%d" % (nodes, nodes * degree))
        if "batch" in o.kinds and degree <= BATCH:
            made.append("batch:%d:%d:%g" % (nodes // BATCH, BATCH, degree / BATCH))
    return made + o.graphs


def measure(o):
    record, end, turns = ops.Record(o.out, KEY, o.again), time.time() + o.seconds, o.out + ".turns"
    ways, graphs = ways_of(o.file), graphs_of(o)
    cases = [
        (way, ops.Case("gt", dtype, *ops.shape_of(shape)))
        for dtype in o.dtypes
        for shape in o.shapes
        for way in o.ways or ways
    ]

    def one(way, case):
        left = [g for g in graphs if not record.has(graph=g, way=way, dtype=case.dtype, H=case.H, D=case.D)]
        for schedule in ways[way][case.dtype != "f32"]:
            refused = []
            last = schedule == ways[way][case.dtype != "f32"][-1]

            def told(_, path, row):
                if row["verdict"] == "refused" and not last:
                    refused.append(path)
                else:
                    if (
                        schedule and "cold_ms" in row and row["plan"] != schedule
                    ):  # rows are too long for it, and the default ran
                        row = dict(verdict="unfit", reason="its guards do not hold: %s ran" % row["plan"])
                    record.add(
                        graph=path,
                        way=way,
                        dtype=case.dtype,
                        H=case.H,
                        D=case.D,
                        who="gnnc",
                        schedule=schedule,
                        **row
                    )

            if left and time.time() < end:
                ops.bench(
                    o,
                    o.file if schedule else ops.LIBRARY,
                    ["gt"],
                    case,
                    left,
                    turns,
                    end - time.time(),
                    told,
                    schedule,
                )
            left = refused

    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for each in [pool.submit(one, *c) for c in cases]:
            each.result()
    with contextlib.suppress(FileNotFoundError):
        os.remove(turns)


# ---- Drawing -------------------------------------------------------------------------------------------------

WIDE, HIGH, LEFT, TOP, RIGHT, BOTTOM = 760, 460, 70, 46, 150, 56


def curves_of(rows):
    """{(kind, H, D, dtype): {way: [(degree, ns an edge)]}}"""
    drawn = {}
    for row in rows:
        if "cold_ms" not in row or row["verdict"] not in ("right", "coarse") or not row["edges"]:
            continue
        kind = row["graph"].split(":")[0] if ":" in row["graph"] else "graphs"
        by_way = drawn.setdefault((kind, row["H"], row["D"], row["dtype"]), {})
        by_way.setdefault(row["way"], []).append(
            (row["edges"] / row["nodes"], 1e6 * row["cold_ms"] / row["edges"])
        )
    return {key: {way: sorted(points) for way, points in by_way.items()} for key, by_way in drawn.items()}


def ticks(low, high, base):
    return [
        base**k
        for k in range(math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9) + 1)
    ]


def text(x, y, what, more=""):
    return '<text x="%.1f" y="%.1f" %s>%s</text>' % (
        x,
        y,
        more,
        what.replace("&", "&amp;").replace("<", "&lt;"),
    )


def svg_of(key, by_way):
    kind, H, D, dtype = key
    points = [p for of in by_way.values() for p in of]
    xs, ys = ticks(min(p[0] for p in points), max(p[0] for p in points), 2), ticks(
        min(p[1] for p in points), max(p[1] for p in points), 10
    )
    xs, ys = xs if len(xs) > 1 else xs + [xs[0] * 2], ys if len(ys) > 1 else ys + [ys[0] * 10]

    def across(x):
        return LEFT + (WIDE - LEFT - RIGHT) * math.log(x / xs[0]) / math.log(xs[-1] / xs[0])

    def up(y):
        return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * math.log(y / ys[0]) / math.log(ys[-1] / ys[0])

    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
        'font-family="sans-serif" font-size="12">'
        % (WIDE, HIGH),
        '<rect width="100%" height="100%" fill="white"/>',
        text(
            LEFT,
            24,
            "gt, %d x %d, %s, %s"
            % (H, D, dtype, TITLES.get(kind, kind)),
            'font-size="15"',
        ),
    ]
    for x in xs:
        out.append(
            '<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#ddd"/>'
            % (across(x), across(x), TOP, HIGH - BOTTOM)
        )
        out.append(text(across(x), HIGH - BOTTOM + 18, "%g" % x, 'text-anchor="middle"'))
    for y in ys:
        out.append(
            '<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>' % (LEFT, WIDE - RIGHT, up(y), up(y))
        )
        out.append(text(LEFT - 8, up(y) + 4, "%g" % y, 'text-anchor="end"'))
    out.append(text((LEFT + WIDE - RIGHT) / 2, HIGH - 12, "edges a row", 'text-anchor="middle"'))
    out.append(
        text(
            18, HIGH / 2, "ns an edge, cold", 'text-anchor="middle" transform="rotate(-90 18 %d)"' % (HIGH // 2)
        )
    )
    for k, (way, of) in enumerate(sorted(by_way.items())):
        colour = COLOURS[k % len(COLOURS)]
        out.append(
            '<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>'
            % (colour, " ".join("%.1f,%.1f" % (across(x), up(y)) for x, y in of))
        )
        out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (across(x), up(y), colour) for x, y in of]
        out.append(
            '<rect x="%d" y="%d" width="14" height="4" fill="%s"/>'
            % (WIDE - RIGHT + 14, TOP + 20 * k + 4, colour)
        )
        out.append(text(WIDE - RIGHT + 34, TOP + 20 * k + 11, way))
    return "\n".join(out + ["</svg>", ""])


def fastest(by_way):
    """(degree, the quickest way) wherever it changes."""
    at, changes = {}, []
    for way, points in by_way.items():
        for x, y in points:
            at.setdefault(round(x, 1), []).append((y, way))
    for x in sorted(at):
        way = min(at[x])[1]
        if not changes or changes[-1][1] != way:
            changes.append((x, way))
    return changes


def draw(o):
    with open(o.out) as f:
        curves = curves_of(map(json.loads, f))
    os.makedirs(o.svg or ".", exist_ok=True)
    for key, by_way in sorted(curves.items()):
        kind, H, D, dtype = key
        print(
            "%-6s %dx%d %-4s %s"
            % (kind, H, D, dtype, "; ".join("from %g edges a row %s" % c for c in fastest(by_way)))
        )
        if o.svg:
            path = os.path.join(o.svg, "crossover-%s-%dx%d-%s.svg" % key)
            with open(path, "w") as f:
                f.write(svg_of(key, by_way))


def main():
    o = parse()
    if not o.draw:
        measure(o)
    draw(o)


if __name__ == "__main__":
    main()
