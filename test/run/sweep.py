#!/usr/bin/env python3
"""Runs every concrete op of the library against its definition over graphs, sizes, types and layouts, and sums up.

Usage: sweep.py GNNC [--target=host|sim|cuda] [--level=quick|full] [--sizes=normal|tiny|tuned] [--all-plans] [--jobs=2] [--out=FILE]
                [--seed=N] [--schedules=FOLDER] [--cases=N] [FILE.gnn ...]

quick: each value of each axis below at least once, graphs by twos where that makes fewer cases. full: each pair of values of two axes at
least once, all values of F. A case is one call of `gnnc run FILE --check` for all ops of a file, which compiles each once for its graphs; with --all-plans each version of each op counts, those that do not fit the
sizes and tensors of a case as unfit. What is refused for a reason a graph can give (the codes in ALLOWED), or what rounding alone could turn, counts as refused,
everything else that is not right as a fault; the commands of faults are printed, and the exit status is 1. --schedules runs,
in place of FILE.gnn, its ops with the schedules of FOLDER/for_FILE.gnn: each op must have two of them at least for the target, and
each must be right in some case.
"""
import argparse
import concurrent.futures
import itertools
import os
import random
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALLOWED = {"E0820"}   # symmetric(src, dst) on a graph that is not
TIMEOUT = 240

AXES = {
    "graph": ["er:50:200", "empty:0", "empty:5", "star:40", "er:2:600", "path:9", "er:1:3", "er:40:160,types=4", "grid:5:7", "clique:9",
              "rmat:6:8,types=7", "hubs:60:400", "batch:6:5:0.5", "er:30:90 -D U=45"],
    "F": [16, 0, 1, 2, 3, 5, 7, 8, 31, 32, 33],
    "K": [8, 0, 1, 3, 7],
    "H": [4, 0, 1, 3],
    "D": [8, 1, 2, 5],
    "type": ["f32", "f16", "bf16", "f64"],
    "index": [32, 64],
    "layout": ["packed", "strided", "misaligned", "broadcast", "uneven"],
    "values": ["random", "special"],
    "edges": ["plain", "mixed"],
    "inplace": ["", "--inplace"],
    "level": [3, 0],
}

FEWER = {"F": [16, 0, 1, 3, 7, 8, 31, 33]}   # of the normal sizes, where the level is quick

TINY = {   # what the simulator goes through in a moment; more points than lanes, all the same
    "graph": ["er:7:40", "empty:0", "empty:3", "star:40", "path:4", "er:1:3", "er:12:36,types=4", "clique:5", "rmat:4:3,types=7",
              "hubs:40:60", "batch:3:4:0.5", "er:9:30 -D U=13"],
    "F": [4, 0, 1, 3, 8, 33],
    "K": [4, 0, 1, 3],
    "H": [2, 0, 1],
    "D": [4, 1, 3],
}

TUNED = {   # what schedules with vectors are for: multiples of eight
    "graph": ["er:7:40", "star:40", "rmat:4:3,types=7", "empty:3", "batch:3:4:0.5"],
    "F": [16, 32],
    "K": [8, 16],
    "Q": [8, 24],
    "H": [4, 8],
    "D": [8, 16],
}


def options(case):
    words = [w for graph in case["graphs"] for w in ("--graph=" + graph).split(" ")]
    words += ["-D", "F=%d" % case["F"], "-D", "K=%d" % case["K"], "-D", "Q=%d" % case.get("Q", case["K"] + 1), "-D", "H=%d" % case["H"]]
    words += ["-D", "D=%d" % case["D"], "-D", "T=" + case["type"], "-D", "S=3", "--index=%d" % case["index"]]
    words += ["--layout=" + case["layout"], "--values=" + case["values"], "--edges=" + case["edges"], "-O%d" % case["level"]]
    words += [case["inplace"]] if case["inplace"] else []
    return words


def each_choice(rng):
    """As many cases as the longest axis has values, graphs aside, which share cases; the others are shuffled and repeated."""
    longest = max(len(v) for name, v in AXES.items() if name != "graph")
    sized = [g for g in AXES["graph"] if " " in g]   # what is said of sizes goes for all graphs of a case
    others = [g for g in AXES["graph"] if " " not in g]
    graphs = [others[i::longest] for i in range(min(longest, len(others)))] + [[g] for g in sized]
    longest = max(longest, len(graphs))
    columns = {"graphs": [graphs[i % len(graphs)] for i in range(longest)]}
    for name, values in AXES.items():
        columns[name] = [values[i % len(values)] for i in range(longest)]
        if name not in ("graph", "F"):
            rng.shuffle(columns[name])
    return [{name: columns[name][i] for name in columns} for i in range(longest)]


def all_pairs(rng):
    """Greedy: of some random cases, the one with the most pairs not seen yet, until none is left."""
    names = list(AXES)
    missing = {(a, x, b, y) for a, b in itertools.combinations(names, 2) for x in AXES[a] for y in AXES[b]}
    cases = []
    while missing:
        a, x, b, y = min(missing, key=str)
        best, most = None, -1
        for _ in range(60):
            case = {n: rng.choice(AXES[n]) for n in names}
            case[a], case[b] = x, y
            gain = sum((p, case[p], q, case[q]) in missing for p, q in itertools.combinations(names, 2))
            if gain > most:
                best, most = case, gain
        cases.append(best | {"graphs": [best["graph"]]})
        missing -= {(p, best[p], q, best[q]) for p, q in itertools.combinations(names, 2)}
    return cases


def gradient(op):
    """Those have tests of their own: test/autodiff."""
    return re.search(r"_grad(_|$)", op)


def with_schedules(gnnc, path, folder):
    """The file of schedules for a file of the library, and options that name the latter's ops."""
    done = subprocess.run([gnnc, path, "-D", "S=3", "-Wno-unused-option", "--emit=tensor", "-o", "-"], capture_output=True, text=True, check=True)
    ops = [re.sub(r"_f32$", "", op) for op in re.findall(r"^op (\w+)", done.stdout, re.M) if not gradient(op)]
    return os.path.join(folder, "for_" + os.path.basename(path)), ["-Wno-unused-option"] + ["--op=" + op for op in ops]


def classes_of(path):
    """Schedules that a bucket names: their rows are all they are for."""
    with open(path, encoding="utf-8") as f:
        return {name for names in re.findall(r"\buse\s+([\w\s,]+);", f.read()) for name in re.findall(r"\w+", names)}


def judge_schedules(table, classes):
    for op, t in sorted(table.items()):
        plans = {p: n for p, n in t["plans"].items() if re.sub(r" .*", "", p) not in classes | {"naive", "default"}}
        if len({re.sub(r" .*", "", p) for p in plans}) < 2:
            yield "%s has no two schedules for this target: %s" % (op, ", ".join(plans) or "none")
        for plan, right in plans.items():
            if not right:
                yield "%s (%s) fits no case" % (op, plan)


def run(gnnc, more, job, case):
    path, ops = job
    command = [gnnc, "run", path, "--check", "--max-errors=0", "--no-lineinfo"] + ops + more + options(case)
    try:
        done = subprocess.run(command, capture_output=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return command, [], "timeout", ""
    text, errors = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    rows = []
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 10 and cells[0] != "op":
            rows.append(cells)
    return command, rows, done.returncode, errors


def code_of(errors, op):
    """Of the op's refusals, which may be of several graphs, one that is not allowed before others."""
    codes = re.findall(r"error\[(E\d+)\]: %s:" % re.escape(op), errors)
    return min(codes, key=lambda code: code in ALLOWED, default="")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--target", default="host")
    parser.add_argument("--level", default="quick", choices=["quick", "full"])
    parser.add_argument("--sizes", default="normal", choices=["normal", "tiny", "tuned"])
    parser.add_argument("--all-plans", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schedules", metavar="FOLDER")
    parser.add_argument("--cases", type=int)
    parser.add_argument("--out")
    parser.add_argument("files", nargs="*")
    a = parser.parse_args()
    stdlib = os.path.join(ROOT, "stdlib")
    files = a.files or sorted(os.path.join(stdlib, f) for f in os.listdir(stdlib) if f.endswith(".gnn") and f != "prelude.gnn")
    AXES.update({"normal": FEWER if a.level == "quick" else {}, "tiny": TINY, "tuned": TUNED}[a.sizes])
    more = ["--target=" + a.target] + (["--all-plans"] if a.all_plans or a.schedules else [])
    jobs = [with_schedules(a.gnnc, f, a.schedules) if a.schedules else (f, []) for f in files]
    rng = random.Random(a.seed)
    cases = (each_choice(rng) if a.level == "quick" else all_pairs(rng))[:a.cases]
    began, faults, table = time.time(), [], {}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for command, rows, status, errors in pool.map(lambda w: run(a.gnnc, more, *w), itertools.product(jobs, cases)):
            shown = " ".join(command)
            if status not in (0, 1, 4) or (status == 0 and not rows) or (status == 1 and not rows):
                faults.append("status %s: %s\n%s" % (status, shown, errors[-2000:]))
            for op, _, _, plan, _, compared, uncertain, ratio, _, verdict in rows:
                t = table.setdefault(re.sub(r"_(f16|bf16|f32|f64)(?=_|$)", "", op), {"right": 0, "refused": 0, "unfit": 0, "fault": 0, "points": 0, "uncertain": 0, "worst": 0.0, "plans": {}})
                unfit = verdict == "unfit" and (a.all_plans or bool(a.schedules))
                t["plans"][plan] = t["plans"].get(plan, 0) + (verdict == "right")
                allowed = unfit or verdict == "not compared" or (verdict == "refused" and code_of(errors, op) in ALLOWED)
                t["right" if verdict == "right" else "unfit" if unfit else "refused" if allowed else "fault"] += 1
                if compared != "-":
                    t["points"] += int(compared)
                    t["uncertain"] += int(uncertain)
                    t["worst"] = max(t["worst"], float(ratio))
                if verdict != "right" and not allowed:
                    said = [line for line in errors.splitlines() if " %s: " % op in line]
                    faults.append("%s (%s) %s: %s --op %s\n    %s" % (op, plan, verdict, shown, re.sub(r"_(f16|bf16|f32|f64)$", "", op), "\n    ".join(said[:3])))
    faults += ["%s was compared in no case" % op for op, t in sorted(table.items()) if not t["right"] and not t["fault"] and not a.schedules]
    if a.schedules:
        faults += judge_schedules(table, set().union(*(classes_of(path) for path, _ in jobs)))
    lines = ["%-32s %6s %8s %6s %6s %12s %12s %12s" % ("op", "right", "refused", "unfit", "fault", "compared", "uncertain", "error/bound")]
    for op, t in sorted(table.items()):
        lines.append("%-32s %6d %8d %6d %6d %12d %12d %12.3f" % (
            op, t["right"], t["refused"], t["unfit"], t["fault"], t["points"], t["uncertain"], t["worst"]))
    total = {k: sum(t[k] for t in table.values()) for k in ("right", "refused", "unfit", "points")}
    lines.append("%d ops, %d cases: %d right, %d refused, %d unfit, %d faults, %d elements compared on %s in %.0f s" % (
        len(table), len(cases), total["right"], total["refused"], total["unfit"], len(faults), total["points"], a.target,
        time.time() - began))
    print("\n".join(lines))
    if faults:
        print("\n" + "\n".join(faults))
    if a.out:
        with open(a.out, "w") as out:
            out.write("\n".join(lines + [""] + faults) + "\n")
    return 1 if faults or not total["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
