#!/usr/bin/env python3
"""The library on real graphs: every op against its definition.

  device_table.py GNNC OUT.json --graphs FOLDER|a.npz,er:50:200 [--target=cuda|host|sim] [--types f32,f16,bf16] [--indexes 32,64]
      [--jobs 8] [--sizes F=16,OP:B=4] [--check-budget N] [--deadline SECONDS] [--schedules FOLDER] [--only cora,aifb] [-- options of gnnc run]

Without --schedules, the naive plan: a case is one `gnnc run FILE --check` for all ops of a file on the GPU and one on the host, for each
graph, type and index width; results are compared as bytes, any NaN being equal to any NaN.
With --schedules, every version: a case is an op on a graph, by the naive plan, by each version of the default schedule and by each
schedule of FOLDER/for_FILE.gnn; types and index widths take turns. Where the definition costs more than --check-budget
expressions, a sample of the results is compared, and the table says of how many. Cases that have not begun at the deadline are counted.

OP:B=4 among the sizes is for that op alone, and takes the place of a B for all.

Prints a table and what went wrong; OUT.json holds every row.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARY = os.path.join(ROOT, "stdlib")
SIZES = "S=3,F=16,K=8,Q=8,H=4,D=8,J=8,P=5,M=4,rgcn_blocks:B=4"
VERDICT = re.compile(r"^(\w+)\s+(\S+)\s+(?:f64|f32|bf16|f16|i32|i64|bool|index)\s+(.*?)\s+(right|WRONG|refused|unfit)\b.*$", re.M)
TIMEOUT = 900
INPUT = re.compile(r"E0820")   # symmetric(src, dst) on a graph that is not


def call(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)


def library_files():
    return [os.path.join(LIBRARY, f) for f in sorted(os.listdir(LIBRARY)) if f.endswith(".gnn") and f != "prelude.gnn"]


def ops_of(gnnc, path):
    done = call([gnnc, path, "-D", "S=3", "-Wno-unused-option", "--emit=tensor", "-o", "-"])
    return [re.sub(r"_f32$", "", op) for op in re.findall(r"^op (\w+)", done.stdout, re.M)]


def size_options(sizes, op=None):
    """Options for the sizes of all ops and, after them, for those of one: of two of a name gnnc takes the last."""
    shared, own = [s for s in sizes if ":" not in s], [s.split(":")[1] for s in sizes if s.split(":")[0] == op]
    return [w for s in shared + own for w in ("-D", s)]


def check_sizes(args):
    named = {s.split(":")[0] for s in args.sizes if ":" in s}
    unknown = named and named - {op for path in library_files() for op in ops_of(args.gnnc, path)}
    if unknown:
        sys.exit("sizes for no op of the library: " + ", ".join(sorted(unknown)))


def graph_name(graph):
    return re.sub(r"\.npz$", "", os.path.basename(graph))


# ---- The naive plan, bit by bit ------------------------------------------------------------------------------------
def same_bits(a, b):
    import numpy
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


def naive_case(job):
    gnnc, path, graph, dtype, index, more = job
    row = {"file": os.path.basename(path), "graph": graph_name(graph), "type": dtype, "index": index, "right": 0, "refused": 0, "faults": []}
    with tempfile.TemporaryDirectory() as folder:
        out = {}
        for target in ("cuda", "host"):
            out[target] = os.path.join(folder, target)
            os.mkdir(out[target])
        command = [gnnc, "run", path, "--no-schedule", "--graph=" + graph, "-D", "T=" + dtype, "--index=" + index, "--max-errors=0"] + more
        try:
            r = call(command + ["--target=cuda", "--check", "--out=" + out["cuda"]])
            call(command + ["--target=host", "--out=" + out["host"]])
        except subprocess.TimeoutExpired:
            row["faults"].append("timeout: " + path)
            return row
        for m in VERDICT.finditer(r.stdout):
            row["right"] += m.group(4) == "right"
            row["refused"] += m.group(4) == "refused"
            if m.group(4) not in ("right", "refused"):
                row["faults"].append(m.group(0))
        if r.returncode not in (0, 1) or (r.returncode == 1 and not row["refused"]) or not row["right"]:
            row["faults"].append("exit %d: %s: %s" % (r.returncode, " ".join(command), r.stderr[-600:]))
        names = sorted(os.listdir(out["cuda"]))
        row["arrays"] = len(names)
        if names != sorted(os.listdir(out["host"])):
            row["faults"].append("host and GPU wrote different results")
        for n in names:
            host = os.path.join(out["host"], n)
            if os.path.exists(host) and not same_bits(os.path.join(out["cuda"], n), host):
                row["faults"].append("bits differ: " + n)
    return row


def naive_runs(args, path):
    """Options of the runs of a file: an op with sizes of its own has a run to itself, the others one together."""
    ops, named = ops_of(args.gnnc, path), {s.split(":")[0] for s in args.sizes if ":" in s}
    alone = [op for op in ops if op in named]
    rest = ["--op=" + op for op in ops if op not in named] if alone else []
    runs = [["--op=" + op] + size_options(args.sizes, op) for op in alone]
    if rest or not alone:
        runs.append(rest + size_options(args.sizes))
    return [run + args.more for run in runs]


def naive_table(args, graphs):
    runs = [(f, more) for f in library_files() for more in naive_runs(args, f)]
    jobs = [(args.gnnc, f, g, t, i, more) for g in graphs for t in args.types for i in args.indexes for f, more in runs]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        rows = list(pool.map(naive_case, jobs))
    print("%-24s %-6s %-5s %6s %8s %7s %7s" % ("graph", "type", "index", "right", "refused", "arrays", "faults"))
    for g in graphs:
        for t in args.types:
            for i in args.indexes:
                mine = [r for r in rows if r["graph"] == graph_name(g) and r["type"] == t and r["index"] == i]
                print("%-24s %-6s %-5s %6d %8d %7d %7d" % (graph_name(g), t, i, sum(r["right"] for r in mine), sum(r["refused"] for r in mine),
                                                           sum(r.get("arrays", 0) for r in mine), sum(len(r["faults"]) for r in mine)))
    faults = ["%s %s %s %s: %s" % (r["file"], r["graph"], r["type"], r["index"], f) for r in rows for f in r["faults"][:3]]
    return rows, faults, "%d op runs right" % sum(r["right"] for r in rows)


# ---- Every version -------------------------------------------------------------------------------------------------
def conditional(text, library):
    """The same schedules under a condition that always holds, on a size: after those that may not apply come the default ones, so that
    one run compares all with one evaluation of the definition."""
    size = dict(re.findall(r"^op (\w+)[^(=]*\(\s*\w+: (?:\w*\[)?(\w+)", library, re.M))
    size.update((alias, size[op]) for alias, op in re.findall(r"^op (\w+) = (\w+)", library, re.M) if op in size)
    return re.sub(r"^(schedule (\w+) (?:(?! when )[^{])*?)\s*\{", lambda m: "%s when (%s >= 0) {" % (m.group(1), size[m.group(2)]), text, flags=re.M)


def classes_of(text):
    return {name for names in re.findall(r"\buse\s+([\w\s,]+);", text) for name in re.findall(r"\w+", names)}


def kind_of(plan):
    return "naive" if plan == "naive" else "default" if plan.startswith("default") else "written"


def version_case(job):
    command, told, classes = job["command"], {k: job[k] for k in ("op", "graph", "type", "index")}, job["classes"]
    if time.time() > job["deadline"]:
        return [dict(told, plan="-", verdict="not begun")]
    try:
        r = call(command)
    except subprocess.TimeoutExpired:
        return [dict(told, plan="-", verdict="timeout", command=" ".join(command))]
    rows = []
    for line in r.stdout.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) != 10 or cells[0] == "op" or cells[3].split(" ")[0] in classes:
            continue
        one_in = re.search(r"\(1 in (\d+)\)", cells[5])
        compared = re.match(r"\d+", cells[5])
        rows.append(dict(told, plan=cells[3], sizes=cells[4], compared=int(compared.group(0)) if compared else 0,
                         one_in=int(one_in.group(1)) if one_in else 1, ratio=cells[7], time=cells[8], verdict=cells[9]))
    if not rows or r.returncode not in (0, 1, 4):
        rows.append(dict(told, plan="-", verdict="exit %d" % r.returncode))
    for row in rows:
        if row["verdict"] not in ("right", "unfit"):
            row.update(command=" ".join(command), said=r.stderr[-1500:])
        if row["verdict"] == "refused" and INPUT.search(r.stderr):
            row["verdict"] = "no input"
    return rows


def version_jobs(args, graphs, folder):
    ops = []
    for path in library_files():
        name = "for_" + os.path.basename(path)
        with open(os.path.join(args.schedules, name), encoding="utf-8") as f:
            text = f.read()
        with open(path, encoding="utf-8") as f:
            library = f.read()
        copy = os.path.join(folder, name)
        with open(copy, "w", encoding="utf-8") as f:
            f.write(conditional(text, library))
        ops += [(copy, op, classes_of(text)) for op in ops_of(args.gnnc, path)]
    turns = [(t, i) for i in args.indexes for t in args.types]
    for g, graph in enumerate(graphs):
        for n, (path, op, classes) in enumerate(ops):
            dtype, index = turns[(n + g) % len(turns)]
            command = [args.gnnc, "run", path, "--op=" + op, "--all-plans", "--check", "--check-budget=%d" % args.check_budget, "--target=" + args.target,
                       "--graph=" + graph, "-D", "T=" + dtype, "--index=" + index, "--max-errors=3", "-Wno-unused-option"] + size_options(args.sizes, op) + args.more
            yield {"command": command, "op": op, "graph": graph_name(graph), "type": dtype, "index": index, "classes": classes, "deadline": args.deadline}


def version_table(args, graphs):
    with tempfile.TemporaryDirectory() as folder:
        jobs = list(version_jobs(args, graphs, folder))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            rows = [row for rows in pool.map(version_case, jobs) for row in rows]
    kinds, faults = ("naive", "default", "written"), []
    print("right runs on %s; ops of the library: %d" % (args.target, len({j["op"] for j in jobs})))
    print("%-20s %6s %8s %8s %6s %9s %10s %10s %8s %8s" % ("graph", "naive", "default", "written", "unfit", "no input", "not begun", "compared", "sampled", "faults"))
    for g in map(graph_name, graphs):
        mine = [r for r in rows if r["graph"] == g]
        right = [r for r in mine if r["verdict"] == "right"]
        said = [r for r in mine if r["verdict"] not in ("right", "unfit", "no input", "not begun")]
        per_op = {}
        for r in right:
            if kind_of(r["plan"]) == "written":
                per_op.setdefault(r["op"], set()).add(r["plan"].split(" ")[0])
        few = sorted(op for op in {r["op"] for r in right} if len(per_op.get(op, ())) < 2)
        faults += ["%s %s %s %s (%s) %s: %s\n%s" % (r["op"], g, r["type"], r["index"], r["plan"], r["verdict"], r.get("command", ""), r.get("said", "")) for r in said]
        faults += ["%s %s: fewer than two written schedules ran" % (op, g) for op in few]
        ops = [{r["op"] for r in right if kind_of(r["plan"]) == k} for k in kinds]
        count = {v: sum(r["verdict"] == v for r in mine) for v in ("unfit", "no input", "not begun")}
        print("%-20s %6d %8d %8d %6d %9d %10d %10d %8d %8d" % (g, *[sum(kind_of(r["plan"]) == k for r in right) for k in kinds], count["unfit"],
              count["no input"], count["not begun"], sum(r["compared"] for r in right), len({r["op"] for r in right if r["one_in"] > 1}), len(said) + len(few)))
        if min(map(len, ops)) != max(map(len, ops)):
            print("    ops with a right run: %s" % ", ".join("%s %d" % (k, len(o)) for k, o in zip(kinds, ops)))
    missing = sorted({r["op"] for r in rows if r["verdict"] == "no input"})
    if missing:
        print("no input (a precondition that the graph does not meet): " + ", ".join(missing))
    return rows, faults, "%d runs right, %d not begun" % (sum(r["verdict"] == "right" for r in rows), sum(r["verdict"] == "not begun" for r in rows))


# ---- All of it -----------------------------------------------------------------------------------------------------
def graphs_of(text, only):
    graphs = [os.path.join(text, f) for f in sorted(os.listdir(text)) if f.endswith(".npz")] if os.path.isdir(text) else text.split(",")
    wanted = only.split(",") if only else []
    missing = [w for w in wanted if w not in map(graph_name, graphs)]
    if missing:
        sys.exit("no graph " + ", ".join(missing))
    return [g for w in wanted for g in graphs if graph_name(g) == w] or graphs


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("out")
    p.add_argument("--graphs", required=True)
    p.add_argument("--only", help="these graphs of the folder, in this order")
    p.add_argument("--target", default="cuda", choices=["cuda", "host", "sim"])
    p.add_argument("--types", default="f32,f16,bf16", type=lambda s: s.split(","))
    p.add_argument("--indexes", default="32", type=lambda s: s.split(","))
    p.add_argument("--jobs", type=int, default=8)
    p.add_argument("--sizes", default=SIZES, type=lambda s: s.split(","))
    p.add_argument("--schedules")
    p.add_argument("--check-budget", type=int, default=2000000)
    p.add_argument("--deadline", type=float, default=1e9)
    p.add_argument("more", nargs="*")
    args = p.parse_args()
    check_sizes(args)
    args.deadline += time.time()
    began = time.time()
    rows, faults, sum_up = (version_table if args.schedules else naive_table)(args, graphs_of(args.graphs, args.only))
    with open(args.out, "w", encoding="utf-8") as out:
        json.dump({"gnnc": call([args.gnnc, "--version"]).stdout.strip(), "sizes": ",".join(args.sizes), "rows": rows}, out, indent=1)
    print("\n".join(faults))
    print("%s, %d faults, %.0f s" % (sum_up, len(faults), time.time() - began))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
