#!/usr/bin/env python3
"""Times every version of ops of the gallery on graphs, and says what the version that is taken costs beyond the best one.

    bench/cost/versions.py --out=versions.jsonl                            # needs a GPU; graphs are generated
    bench/cost/versions.py --graphs=rmat:15:16,cora.npz --ops=agnn,gine.grad --out=versions.jsonl
    bench/cost/versions.py --table --out=versions.jsonl                    # the table alone; asks which version is taken, without a GPU

A version that is not right, or whose guards do not hold, has no time. Times are medians of launches after the caches were overwritten."""
import argparse
import collections
import concurrent.futures
import itertools
import json
import math
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GALLERY = os.path.join(ROOT, "bench", "gallery")
GRAPHS = ["er:100000:500000", "er:50000:1000000", "rmat:15:16", "rmat:18:4", "grid:500:500", "hubs:100000:1000000", "er:20000:60000"]
OPS = ["agnn", "agnn.grad", "softmax_aggr", "egnn", "schnet", "resgated", "gine", "kuramoto.grad", "thresholded", "edgeconv", "magnet"]


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--out", default="versions.jsonl")
    p.add_argument("--device", default="h200")
    p.add_argument("--target", default="cuda")
    p.add_argument("--graphs", default=",".join(GRAPHS))
    p.add_argument("--ops", default=",".join(OPS))
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--limit", type=float, default=300, help="seconds a process may take")
    p.add_argument("--table", action="store_true")
    return p.parse_args()


def words(o, verb, op):
    name = op.split(".")[0]
    with open(os.path.join(GALLERY, name + ".py")) as f:
        sizes = re.search(r"sizes=dict\(([^)]*)\)", f.read())
    known = ["-D" + x.strip() for x in sizes.group(1).split(",")] if sizes and sizes.group(1) else []
    return [o.gnnc, verb, os.path.join(GALLERY, name + ".gnn"), "--op=" + op] + known + ["--graph=" + g for g in o.graphs]


def timed(o, op, lock):
    more = ["--all-plans", "--brief", "--json", "--flush", "--seconds=0.02", "--repeat=15", "--bandwidth=4000", "--check-budget=100000",
            "--alone=" + lock, "--target=" + o.target, "--accept-overflow"]
    try:
        run = subprocess.run(words(o, "bench", op) + more, capture_output=True, text=True, timeout=o.limit)
    except subprocess.TimeoutExpired:
        return op, None
    return op, [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def measure(o):
    with tempfile.NamedTemporaryFile() as lock, open(o.out, "a") as out, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for op, rows in pool.map(lambda op: timed(o, op, lock.name), o.ops):
            print("%s: %s" % (op, "too long" if rows is None else "%d versions" % sum("median_ms" in r for r in rows)), flush=True)
            for r in rows or []:
                if "median_ms" in r:
                    out.write(json.dumps({"op": op, "graph": r["graph"], "version": r["plan"], "us": r["median_ms"] * 1e3}) + "\n")


def taken(o, op):
    """The version of each graph, as the runtime chooses it."""
    run = subprocess.run(words(o, "run", op) + ["--resource-usage", "--repeat=0", "--target=sim", "--device=" + o.device], capture_output=True, text=True)
    return dict(zip(o.graphs, re.findall(r"^\S+ on \S+ [^\n]*, version '([^']*)'", run.stdout, re.M)))


def mean(xs):
    return 100 * (math.exp(sum(xs) / len(xs)) - 1) if xs else 0


def table(o):
    cases = collections.defaultdict(dict)
    with open(o.out) as f:
        for line in f:
            r = json.loads(line)
            cases[r["op"], r["graph"]][r["version"]] = r["us"]
    now = {op: taken(o, op) for op in o.ops}
    over = {k: math.log(d[now[k[0]][k[1]]] / min(d.values())) for k, d in cases.items() if now.get(k[0], {}).get(k[1]) in d}
    print("%-16s %-24s %-28s %9s  %-28s %9s" % ("op", "graph", "taken", "us", "best", "us"))
    for (op, graph), d in sorted(cases.items()):
        version, best = now.get(op, {}).get(graph, "-"), min(d, key=d.get)
        print("%-16s %-24s %-28s %9s  %-28s %9.1f" % (op, os.path.basename(graph), version, "%.1f" % d[version] if version in d else "-", best, d[best]))
    print("%d cases: the version taken costs %.1f %% beyond the best in the mean, %.0f %% at most" %
          (len(over), mean(list(over.values())), 100 * (math.exp(max(over.values(), default=0)) - 1)))
    versions = sorted({v for d in cases.values() for v in d})
    for n in 1, 2, 3:
        best = min(itertools.combinations(versions, n), default=(),
                   key=lambda s: sum(math.log(min([d[v] for v in s if v in d] or [10 * min(d.values())]) / min(d.values())) for d in cases.values()))
        print("the best %d of all versions: %s" % (n, ", ".join(best)))


def main():
    o = options()
    o.graphs, o.ops = o.graphs.split(","), o.ops.split(",")
    if not o.table:
        measure(o)
    table(o)


main()
