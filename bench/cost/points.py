#!/usr/bin/env python3
"""Compares times that the cost model tells with times measured, over ops, versions and schedules, and graphs.

    bench/cost/points.py --out=points.jsonl            # needs a GPU; a line of JSON a point is added
    bench/cost/points.py --table --out=points.jsonl    # the table alone
    bench/cost/points.py --tell --out=points.jsonl     # tells the points in it anew by the model, and measures nothing
    bench/cost/points.py --record=record.jsonl         # tells what gnnc tune --record measured, some schedules of each op and graph

A point is an op, a version of it or a schedule, and a graph. Within an op and graph the model chooses among its points: *regret* is what the
one it thinks fastest takes beyond the one that is. *Spearman* is the correlation of ranks over all graphs and versions of an op."""
import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GRAPHS = ["rmat:17:7", "grid:700:700", "er:100000:3200000", "hubs:131072:900000", "er:400000:800000", "star:300000"]
SIZES = dict(F=64, K=64, H=8, D=16, R=4, Q=64, C=8, S=4)
FILES = ["stdlib/spmm.gnn", "stdlib/sddmm.gnn", "stdlib/segment.gnn", "stdlib/softmax.gnn", "stdlib/attention.gnn", "stdlib/layers_conv.gnn",
         "stdlib/layers_message.gnn", "stdlib/dgl.gnn"]
SCHEDULED = ["bench/papers/tiles.gnn", "bench/papers/pair.gnn", "bench/papers/scaled.gnn", "bench/papers/exponentials.gnn"]


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--out", default="points.jsonl")
    p.add_argument("--device", default="h200")
    p.add_argument("--graphs", default=",".join(GRAPHS))
    p.add_argument("--files", default=",".join(FILES + SCHEDULED))
    p.add_argument("--only", default="", help="a regular expression of ops")
    p.add_argument("--limit", type=float, default=100, help="seconds a process may take")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--gradients", action="store_true", help="gradients, too")
    p.add_argument("--table", action="store_true")
    p.add_argument("--tell", action="store_true")
    p.add_argument("--record", help="of gnnc tune; its ops are of the gallery or the library")
    p.add_argument("--told", help="with --record: a line of JSON a point is written to this file, for fit.py")
    p.add_argument("--most", type=int, default=40, help="schedules of an op on a graph that are told, by chance")
    return p.parse_args()


def ops_of(o, path):
    """(op, sizes, schedules) of a file."""
    out = subprocess.run([o.gnnc, "inspect", path], capture_output=True, text=True).stdout
    name = None
    for line in out.splitlines():
        if line.startswith("op "):
            name = line.split()[1]
        elif line.split()[:1] == ["sizes"] and name:
            yield re.sub(r"_f32$", "", name), [s for s in line.split()[1:] if s in SIZES]


def schedules_of(path, op):
    with open(path) as f:
        return re.findall(r"^schedule %s (\w+)" % re.escape(op), f.read(), re.M)


def commands(o):
    for path in o.files.split(","):
        whole = os.path.join(ROOT, path)
        for op, sizes in ops_of(o, whole):
            if o.only and not re.search(o.only, op) or op.endswith(".grad") and not o.gradients:
                continue
            base = [whole, "--op=" + op] + [x for s in sizes for x in ("-D", "%s=%d" % (s, SIZES[s]))]
            for schedule in (schedules_of(whole, op) if path in SCHEDULED else []) or [None]:
                yield path, op, schedule, base + (["--schedule=" + schedule] if schedule else [])


def call(o, args):
    try:
        r = subprocess.run([o.gnnc] + args, capture_output=True, text=True, timeout=o.limit)
    except subprocess.TimeoutExpired:
        return [], "takes longer than %g s" % o.limit
    if r.returncode < 0:
        return [], "ended by signal %d" % -r.returncode
    rows = [json.loads(line) for line in r.stdout.splitlines() if line.startswith("{")]
    return rows, r.stderr.strip().splitlines()[0] if r.stderr.strip() and not rows else None


def points(o, work, lock):
    path, op, schedule, base = work
    graphs = ["--graph=" + g for g in o.graphs.split(",")]
    told, why = call(o, ["explain", "--cost", "--json", "--device=" + o.device, "--all-plans"] + base + graphs)
    if why:
        return [], "%s %s: %s" % (op, schedule or "", why)
    timed, why = call(o, ["bench", "--json", "--flush", "--seconds=0.03", "--repeat=9", "--check-budget=20000", "--all-plans",
                          "--alone=" + lock] + base + graphs)
    if why:
        return [], "%s %s: %s" % (op, schedule or "", why)
    by = {(t["plan"], t["graph"]): t for t in told}
    out = []
    for t in timed:
        key = t["plan"], t["graph"]
        if "median_ms" in t and key in by and t["verdict"] != "unfit":
            out.append(dict(file=path, op=op, schedule=schedule, plan=t["plan"], graph=t["graph"], verdict=t["verdict"],
                            measured=t["median_ms"] * 1e6, told=by[key]["ns"], model=by[key]["kernels"]))
    return out, None


def measure(o):
    lock = tempfile.mktemp()
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool, open(o.out, "a") as f:
        for done in concurrent.futures.as_completed([pool.submit(points, o, w, lock) for w in commands(o)]):
            out, why = done.result()
            if why:
                print(why, file=sys.stderr)
            for x in out:
                f.write(json.dumps(x) + "\n")
            f.flush()


def tell_anew(o, rows):
    """The model's part of points that are there, by the compiler as it is now."""
    kept = {}

    def one(work):
        path, op, schedule, base = work
        graphs = sorted({r["graph"] for r in rows if (r["file"], r["op"], r["schedule"]) == (path, op, schedule)})
        if not graphs:
            return
        told, _ = call(o, ["explain", "--cost", "--json", "--device=" + o.device, "--all-plans"] + base + ["--graph=" + g for g in graphs])
        for t in told:
            kept[path, op, schedule, t["plan"], t["graph"]] = t
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(one, list(commands(o))))
    out = []
    for r in rows:
        t = kept.get((r["file"], r["op"], r["schedule"], r["plan"], r["graph"]))
        if t:
            out.append(dict(r, told=t["ns"], model=t["kernels"]))
    return out


def file_of(o, op):
    name = op.split(".")[0]
    own = os.path.join(ROOT, "bench", "gallery", name + ".gnn")
    if os.path.exists(own):
        return own
    for path in o.files.split(","):
        with open(os.path.join(ROOT, path)) as f:
            if re.search(r"^op %s\b" % name, f.read(), re.M):
                return os.path.join(ROOT, path)
    sys.exit("no file has an op %s" % name)


def told_of_record(o):
    """Points of a record of gnnc tune, as the model tells them now."""
    by_case, codes = collections.defaultdict(list), set()
    with open(o.record) as f:
        for line in f:
            r = json.loads(line)
            code = r["op"], r["graph"], r.get("code")
            if r.get("ns") and r.get("schedule") and code not in codes:   # the same code is one point
                codes.add(code)
                by_case[r["op"], r["graph"]].append(r)
    chance = random.Random(1)
    picked = [r for case in by_case.values() for r in chance.sample(case, min(o.most, len(case)))]

    def one(r):
        path, sizes = file_of(o, r["op"]), re.findall(r"(\w+) == (\d+)", r["schedule"])
        with tempfile.NamedTemporaryFile("w", suffix=".gnn") as f:
            f.write('import "%s";\n%s' % (os.path.basename(path)[:-4], r["schedule"].replace("@", "tuned").replace("sm_90a", "sm_90")))
            f.flush()
            rows, _ = call(o, ["explain", "--cost", "--json", "--no-rules", "--device=" + o.device, f.name, "-I", os.path.dirname(path),
                               "--op=" + r["op"], "--schedule=tuned", "--graph=" + r["graph"]] + ["-D%s=%s" % s for s in sizes])
        if not rows or not rows[-1]["plan"].startswith("tuned"):
            return None
        return dict(file=path, op=r["op"], schedule=r["schedule"], plan="tuned", graph=r["graph"], measured=r["ns"], told=rows[-1]["ns"],
                    kernels=rows[-1]["kernels"])
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        return [x for x in pool.map(one, picked) if x]


def ranks(xs):
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    out = [0.0] * len(xs)
    for place, i in enumerate(order):
        out[i] = place
    return out


def spearman(xs, ys):
    a, b = ranks(xs), ranks(ys)
    m = (len(a) - 1) / 2
    top = sum((x - m) * (y - m) for x, y in zip(a, b))
    return top / math.sqrt(sum((x - m) ** 2 for x in a) * sum((y - m) ** 2 for y in b))


def table(rows):
    by_op, by_choice = collections.defaultdict(list), collections.defaultdict(list)
    for r in rows:
        by_op[r["op"]].append(r)
        by_choice[r["file"], r["op"], r["graph"]].append(r)
    ratios = sorted(r["told"] / r["measured"] for r in rows)
    regrets = []
    for (_, op, graph), c in by_choice.items():
        if len(c) > 1:
            best, chosen = min(x["measured"] for x in c), min(c, key=lambda x: x["told"])["measured"]
            regrets.append((chosen / best - 1, op, graph, min(c, key=lambda x: x["told"])["plan"], min(c, key=lambda x: x["measured"])["plan"]))
    rho = sorted((spearman([x["told"] for x in c], [x["measured"] for x in c]), op) for op, c in by_op.items() if len(c) > 3)
    regrets.sort()
    print("%d points, %d ops, %d choices" % (len(rows), len(by_op), len(regrets)))
    print("told over measured: median %.2f, quartiles %.2f %.2f, least %.2f, most %.2f" % (
        ratios[len(ratios) // 2], ratios[len(ratios) // 4], ratios[3 * len(ratios) // 4], ratios[0], ratios[-1]))
    print("Spearman within an op: median %.3f, mean %.3f, least %s" % (rho[len(rho) // 2][0], sum(r for r, _ in rho) / len(rho),
          ", ".join("%s %.2f" % (n, r) for r, n in rho[:5])))
    print("regret: mean %.1f %%, median %.1f %%" % (100 * sum(r[0] for r in regrets) / len(regrets), 100 * regrets[len(regrets) // 2][0]))
    for r in regrets[:-13:-1]:
        print("  %6.1f %%  %s on %s: %s, not %s" % (100 * r[0], r[1], r[2], r[3], r[4]))
    far = sorted(rows, key=lambda r: abs(math.log(r["told"] / r["measured"])))
    for r in far[:-16:-1]:
        print("  %8.1f told %8.1f measured us  %s %s on %s" % (r["told"] * 1e-3, r["measured"] * 1e-3, r["op"], r["schedule"] or r["plan"], r["graph"]))


def main():
    o = options()
    if o.record:
        points_told = told_of_record(o)
        if o.told:
            with open(o.told, "w") as f:
                f.writelines(json.dumps(x) + "\n" for x in points_told)
        table(points_told)
        return
    if not o.table and not o.tell:
        measure(o)
    rows = [json.loads(line) for line in open(o.out)]
    if o.tell:
        rows = tell_anew(o, rows)
    table(rows)


if __name__ == "__main__":
    main()
