#!/usr/bin/env python3
"""Tables of what family.py recorded: gnnc beside the quickest peer of each case, the floors, what preparing costs; geometric means.
Usage: report.py FILE... [--peers]. With --peers, a row each peer. Times are in microseconds, ratios below 1 in gnnc's favour."""
import argparse
import json
import math
import statistics
import sys

COLUMNS = ("graph", "op", "F", "H", "gnnc cold", "hot", "best peer", "cold", "hot", "x cold", "x hot", "stream", "gather", "x floor", "plan",
           "peer's")


def load(paths):
    """{(family, dtype): {(graph, op, F, H): {who: row}}}; of what was timed twice the last."""
    families, sizes = {}, {}
    for path in paths:
        for line in open(path):
            row = json.loads(line)
            if row["who"] == "graph":
                sizes[row["graph"]] = row
                continue
            cases = families.setdefault((row["family"], row["dtype"]), {})
            cases.setdefault((row["graph"], row["op"], row["F"], row["H"]), {})[row["who"]] = row
    return families, sizes


def timed(row):
    return row is not None and "cold_ms" in row and row["verdict"] in ("right", "coarse")


def peers_of(case):
    return {who: row for who, row in case.items() if who not in ("gnnc", "floors") and timed(row)}


def floor_of(case):
    floors = case.get("floors", {})
    return max(floors.get("stream_ms", 0), floors.get("gather_ms", 0))


def ratios_of(case):
    """Of gnnc over the best peer, cold and hot (each its own best), and over the higher floor; None where one is missing."""
    ours, peers = case.get("gnnc"), peers_of(case).values()
    if not timed(ours):
        return None, None, None
    over = [ours[t] / min(p[t] for p in peers) if peers else None for t in ("cold_ms", "hot_ms")]
    return (*over, ours["cold_ms"] / floor_of(case) if floor_of(case) else None)


def us(row, field):
    return "%.1f" % (1e3 * row[field]) if row and field in row else "-"


def ratio(x):
    return "-" if x is None else "%.2f" % x


def cells(key, case):
    ours, floors, peers = case.get("gnnc"), case.get("floors", {}), peers_of(case)
    who = min(peers, key=lambda w: peers[w]["cold_ms"]) if peers else None
    best, (cold, hot, floor) = peers.get(who), ratios_of(case)
    name = "-" if who is None else who + ("*" if best["verdict"] == "coarse" else "")
    return [*key, *((us(ours, "cold_ms"), us(ours, "hot_ms")) if timed(ours) else (ours["verdict"] if ours else "-", "-")),
            name, us(best, "cold_ms"), us(best, "hot_ms"), ratio(cold), ratio(hot), us(floors, "stream_ms"), us(floors, "gather_ms"),
            ratio(floor), us(ours, "prepare_ms"), us(best, "prepare_ms")]


def print_table(titles, rows):
    rows = [[str(c) for c in row] for row in rows]
    widths = [max(len(row[k]) for row in [titles, *rows]) for k in range(len(titles))]
    words = [k for k, title in enumerate(titles) if title in ("graph", "op", "best peer", "peer", "of", "verdict")]
    for row in [titles, *rows]:
        print("  ".join(c.ljust(w) if k in words else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths))).rstrip())
    print()


def geomean(values):
    values = [v for v in values if v]
    return (math.exp(sum(map(math.log, values)) / len(values)), len(values)) if values else (None, 0)


def mean_row(name, cases):
    columns = list(zip(*map(ratios_of, cases))) or [(), (), ()]
    cold, n = geomean(columns[0])
    at_most = sum(1 for x in columns[0] if x and x <= 1)
    return [name, n, at_most, ratio(cold), ratio(geomean(columns[1])[0]), ratio(geomean(columns[2])[0])]


def print_means(families):
    groups = {}
    for (family, dtype), cases in families.items():
        for key, case in cases.items():
            for name in ("all", family, "%s %s" % (family, dtype), "%s on %s" % (family, key[0])):
                groups.setdefault(name, []).append(case)
    print_table(("of", "cases", "not slower", "x cold", "x hot", "x floor"), [mean_row(name, groups[name]) for name in sorted(groups)])


def print_peers(cases):
    rows = [[*key, who, us(row, "cold_ms"), us(row, "hot_ms"), us(row, "prepare_ms"), row["verdict"]]
            for key, case in sorted(cases.items()) for who, row in sorted(case.items(), key=lambda r: r[1].get("cold_ms", math.inf))
            if "cold_ms" in row]
    print_table(("graph", "op", "F", "H", "peer", "cold", "hot", "prepared", "verdict"), rows)


def print_empty(families):
    """What no hot time of gnnc's can be below."""
    ours = [case["gnnc"] for cases in families.values() for case in cases.values() if "gnnc" in case]
    alone = [row for row in ours if "empty_replay_ms" in row and "replay_ms" in row]
    theirs = [case["floors"] for cases in families.values() for case in cases.values() if "floors" in case]
    for name, rows in (("gnnc's", ours), ("peers", theirs)):
        empty = [statistics.median([1e3 * row[k] for row in rows if k in row] or [0]) for k in ("empty_cold_ms", "empty_ms")]
        if max(empty):
            print("an empty kernel, launched as %s are: cold %.1f, hot %.1f" % (name, *empty))
    if alone:
        print("a replay of it alone: %.1f; of %d cases %d take up to 1.3 times that, replayed alone" % (
            1e3 * statistics.median(row["empty_replay_ms"] for row in alone), len(alone),
            sum(row["replay_ms"] <= 1.3 * row["empty_replay_ms"] for row in alone)))
    print()


def print_missing(families):
    """What has no time, once a reason."""
    reasons = {}
    for (_, dtype), cases in families.items():
        for (graph, op, feat, heads), case in cases.items():
            for who, row in case.items():
                if who != "floors" and not timed(row):
                    what = "%s: %s %s" % (who, row["verdict"], row.get("reason", "error %.1e" % row["error"] if "error" in row else ""))
                    reasons.setdefault(what.strip(), []).append("%s %s %s F=%s H=%s" % (graph, op, dtype, feat, heads))
    for what, where in sorted(reasons.items()):
        print("%s: %d cases, such as %s" % (what, len(where), where[0]))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--peers", action="store_true")
    o = p.parse_args()
    families, sizes = load(o.files)
    for name, row in sizes.items():
        print("%-12s %9d nodes %10d edges, at most %d of a node" % (name, row["nodes"], row["edges"], row["largest_degree"]))
    for (family, dtype), cases in sorted(families.items()):
        print("\n%s, %s" % (family, dtype))
        print_table(COLUMNS, [cells(key, case) for key, case in sorted(cases.items())])
        if o.peers:
            print_peers(cases)
    print("geometric means; * is right but for sums in 16 bits; x floor is over the higher of the two")
    print_means(families)
    print_empty(families)
    print_missing(families)
    wrong = any(row.get("verdict") == "WRONG" and who == "gnnc" for c in families.values() for case in c.values() for who, row in case.items())
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
