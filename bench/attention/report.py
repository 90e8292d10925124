#!/usr/bin/env python3
"""Tables of what attention.py recorded: gnnc beside the quickest peer of each case, cold; geometric means, the
worst, many heads beside one, 16 bits beside 32, and memory. Times are in microseconds, ratios below 1 in gnnc's
favour; forward and backward of gnnc is the op that saves, then its gradient, in one time.

    report.py FILE... [--peers] [--only=times,means,shapes,types,memory,missing]
"""

import argparse
import json
import math
import sys

import ops

TABLES = ("times", "means", "shapes", "types", "memory", "missing")
WORDS = ("graph", "op", "dtype", "pass", "best peer", "peer", "of", "verdict", "worst", "plan")


def load(paths):
    """{(graph, op, dtype, H, D, pass): {who: row}}; of what was timed twice the last."""
    cases, sizes = {}, {}
    for path in paths:
        for line in open(path):
            row = json.loads(line)
            if row["who"] == "graph":
                sizes[row["graph"]] = row
                continue
            key = tuple(row[k] for k in ("graph", "op", "dtype", "H", "D"))
            cases.setdefault((*key, row["pass"]), {})[row["who"]] = row
    return cases, sizes


def timed(row):
    return row is not None and "cold_ms" in row and row["verdict"] in ("right", "coarse")


def best_of(case):
    peers = {who: row for who, row in case.items() if who != "gnnc" and timed(row)}
    return min(peers.items(), key=lambda p: p[1]["cold_ms"], default=(None, None))


def ratio_of(case):
    ours, (_, best) = case.get("gnnc"), best_of(case)
    return ours["cold_ms"] / best["cold_ms"] if timed(ours) and best else None


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


# ---- Cells ---------------------------------------------------------------------------------------------------


def us(row):
    return "%.1f" % (1e3 * row["cold_ms"]) if timed(row) else "-" if row is None else row["verdict"]


def ratio(x):
    return "-" if x is None else "%.2f" % x


def mb(x):
    return "-" if x is None else "%.1f" % (x / 1e6)


def print_table(titles, rows):
    rows = [[str(c) for c in row] for row in rows]
    if not rows:
        return
    widths = [max(len(row[k]) for row in [titles, *rows]) for k in range(len(titles))]
    for row in [titles, *rows]:
        print(
            "  ".join(
                c.ljust(w) if titles[k] in WORDS else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))
            ).rstrip()
        )
    print()


def key_cells(key):
    graph, op, dtype, H, D, which = key
    return [op, which, graph, "%dx%d" % (H, D), dtype]


KEYS = ["op", "pass", "graph", "shape", "dtype"]


def order(key):
    graph, op, dtype, H, D, which = key
    return op, which != "forward", graph, H, D, list(ops.BYTES).index(dtype)


# ---- Tables --------------------------------------------------------------------------------------------------


def print_times(cases, all_peers):
    rows = []
    for key in sorted(cases, key=order):
        case = cases[key]
        who, best = best_of(case)
        star = "*" if best and best["verdict"] == "coarse" else ""
        rows.append(
            [
                *key_cells(key),
                us(case.get("gnnc")),
                (who or "-") + star,
                us(best),
                ratio(ratio_of(case)),
                case.get("gnnc", {}).get("plan", "-"),
            ]
        )
        if all_peers:
            rows += [
                [*[""] * 6, name, us(row), "", ""]
                for name, row in sorted(case.items())
                if name not in ("gnnc", who)
            ]
    print_table(KEYS + ["gnnc", "best peer", "its", "x", "plan"], rows)


def print_means(cases):
    groups = {}
    for key, case in cases.items():
        graph, op, dtype, H, D, which = key
        if ratio_of(case):
            for name in (
                "all",
                which,
                "%s, %s" % (op, which),
                "%s, %s" % (dtype, which),
                "%s, %s" % (graph, which),
                "%dx%d, %s" % (H, D, which),
            ):
                groups.setdefault(name, []).append((ratio_of(case), key))
    rows = []
    for name, of in sorted(groups.items()):
        worst, key = max(of)
        rows.append(
            [
                name,
                len(of),
                sum(r <= 1 for r, _ in of),
                ratio(geomean(r for r, _ in of)),
                ratio(worst),
                " ".join(key_cells(key)),
            ]
        )
    print_table(["of", "cases", "not slower", "geomean", "largest", "worst"], rows)


def beside(cases, other_of):
    """[(key, time, time of the other)] of what was timed twice, the second by another key."""
    ours = {key: case["gnnc"] for key, case in cases.items() if timed(case.get("gnnc"))}
    return [
        (key, ours[key], ours[other_of(key)])
        for key in sorted(ours, key=order)
        if other_of(key) in ours and other_of(key) != key
    ]


def print_shapes(cases):
    """Eight heads of 16 beside one of 128: the same bytes of features."""
    found = beside(cases, lambda k: (*k[:3], 1, 128, k[5]) if k[3:5] == (8, 16) else None)
    rows = [
        [key[1], key[5], key[0], key[2], us(many), us(one), ratio(many["cold_ms"] / one["cold_ms"])]
        for key, many, one in found
    ]
    print_table(["op", "pass", "graph", "dtype", "8x16", "1x128", "x"], rows)
    print(
        "geometric mean %s of %d\n"
        % (ratio(geomean(many["cold_ms"] / one["cold_ms"] for _, many, one in found)), len(found))
    )


def print_types(cases):
    found = beside(cases, lambda k: (*k[:2], "f32", *k[3:]) if k[2] != "f32" else None)
    rows = [
        [*key_cells(key), us(narrow), us(wide), ratio(narrow["cold_ms"] / wide["cold_ms"])]
        for key, narrow, wide in found
    ]
    print_table(KEYS + ["time", "f32", "x"], rows)
    for dtype in ("f16", "bf16"):
        of = [narrow["cold_ms"] / wide["cold_ms"] for key, narrow, wide in found if key[2] == dtype]
        print("%s over f32: geometric mean %s of %d" % (dtype, ratio(geomean(of)), len(of)))
    print()


def print_memory(cases):
    """Beyond the inputs: results, gradients, what is saved, temporaries, maps that were prepared; of peers the
    most that they allocate in a call."""
    rows = []
    for key in sorted(cases, key=order):
        ours, peers = cases[key].get("gnnc"), cases[key].items()
        peers = {who: row["beyond_bytes"] for who, row in peers if timed(row) and "beyond_bytes" in row}
        if not timed(ours):
            continue
        of, both = ops.Case(key[1], *key[2:5]), key[5] == "both"
        inputs, results = ops.input_bytes(of, ours["nodes"], ours["edges"], both), ops.result_bytes(
            of, ours["nodes"], ours["edges"], both
        )
        beyond = results + ours["workspace_bytes"] + ours["prepared_bytes"]
        least = min(peers, key=peers.get) if peers else None
        messages = ours["edges"] * of.H * of.D * ops.BYTES[of.dtype]
        rows.append(
            [
                *key_cells(key),
                mb(inputs),
                mb(results),
                mb(ours["workspace_bytes"]),
                mb(ours["prepared_bytes"]),
                mb(beyond),
                least or "-",
                mb(peers.get(least)),
                ratio(beyond / peers[least] if least else None),
                mb(messages),
            ]
        )
    print_table(
        KEYS
        + ["inputs MB", "results", "workspace", "maps", "beyond inputs", "peer", "its", "x", "a row an edge"],
        rows,
    )


def print_missing(cases):
    """What has no time, once a reason."""
    reasons = {}
    for key, case in sorted(cases.items()):
        for who, row in case.items():
            if not timed(row):
                reasons.setdefault("%s: %s %s" % (who, row["verdict"], row.get("reason", "")), []).append(
                    " ".join(key_cells(key))
                )
    for what, where in sorted(reasons.items()):
        print("%s: %d cases, such as %s" % (what.strip(), len(where), where[0]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--peers", action="store_true", help="a row each peer")
    p.add_argument("--only", type=lambda s: s.split(","), default=TABLES, help="of " + ", ".join(TABLES))
    o = p.parse_args()
    cases, sizes = load(o.files)
    for name, row in sizes.items():
        print(
            "%-12s %9d nodes %10d edges, at most %d of a node"
            % (name, row["nodes"], row["edges"], row["largest_degree"])
        )
    print()
    for table, show in (
        ("times", lambda: print_times(cases, o.peers)),
        ("means", lambda: print_means(cases)),
        ("shapes", lambda: print_shapes(cases)),
        ("types", lambda: print_types(cases)),
        ("memory", lambda: print_memory(cases)),
        ("missing", lambda: print_missing(cases)),
    ):
        if table in o.only:
            show()
    return (
        1 if any(case.get("gnnc", {}).get("verdict", "").upper() == "WRONG" for case in cases.values()) else 0
    )


if __name__ == "__main__":
    sys.exit(main())
