#!/usr/bin/env python3
"""The cases at the edge, for every op of the library, on the host and in the simulator, each against the evaluator: a table, op by case.

Usage: edge_cases.py GNNC [--level=quick|full] [--jobs=2] [--out=FILE] [FILE.gnn ...]

A case is a row of CASES; what it means for an op follows from the op's spaces, maps and tensors, as --emit=tensor tells them: F, for one, is
each size in turn that no map leads from or into. A case that an op cannot have has its reason in the table. full: every variant of each case
on both targets; quick: one variant of each, not optimised, every fourth case on the host, where compiling takes longer. Code is compiled for any size, as in an object that is linked. The exit status is
1 where an op has a case neither right nor excused.
"""
import argparse
import collections
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "stdlib")
FROM_GRAPH = re.compile(r"src|dst|col|[sd]\d$")   # maps that --graph gives
SMALL = 4   # a size that a case does not say
PRECONDITION = "its preconditions, or those of its maps, rule it out, or rounding could turn each result"   # told by E0820 or E0819

GRAPHS = {   # name: (rows, columns, edges (row, column), from 1)
    "gaps": (24, 24, [(1 + i * i % 3, 1 + i * 7 % 24) for i in range(60)] + [(9, 9)]),
    "one": (9, 9, [(4, 1 + i * 5 % 9) for i in range(264)]),
    "twice": (6, 6, [(1 + i % 4, 1 + i % 3) for i in range(40)]),
    "loops": (7, 7, [(i, i) for i in range(1, 8)] + [(3, 5), (5, 3)]),
    "wide": (5, 33, [(1 + i % 3, 1 + i * 11 % 33) for i in range(40)]),
    "tall": (37, 4, [(1 + i * 5 % 19, 1 + i % 4) for i in range(50)])}
SYMMETRIC = {"gaps": [(1, 2), (2, 1), (2, 24), (24, 2)], "one": [(4, 4)] * 264, "twice": [(1, 2), (2, 1)] * 20}   # for ops that ask for it


class Op:
    """What --emit=tensor tells of an op."""

    def __init__(self, name, text):
        self.name = re.sub(r"_f32$", "", name)
        self.spaces = [s for s, const in re.findall(r"^  space (\w+)( =.*)?$", text, re.M) if not const]
        self.maps = [(n, re.findall(r"\w+", axes), into) for n, axes, into in re.findall(r"^  map (\w+) : (.*?) -> (\w+)", text, re.M)]
        self.tensors = re.findall(r"^  (tensor|result) (\w+) : (\w+)(?:\[(.*?)\])?(.*)$", text, re.M)
        named = {x for _, axes, into in self.maps for x in axes + [into]}
        self.dense = [s for s in self.spaces if s not in named]
        graph = {into for n, _, into in self.maps if FROM_GRAPH.match(n)}
        self.other_rows = sorted({into for n, _, into in self.maps if not FROM_GRAPH.match(n) and into not in graph and into in self.spaces})
        ends = collections.defaultdict(list)
        for n, axes, into in self.maps:
            if FROM_GRAPH.match(n):
                ends[tuple(axes)].append(into)
        self.ends = [e for e in ends.values() if len(e) > 1]
        self.rows = any(into in self.spaces for _, _, into in self.maps)

    def floats(self):
        return [n for role, n, t, _, _ in self.tensors if role == "tensor" and t in ("f16", "bf16", "f32", "f64")]

    def has_strides(self):
        return any("packed" not in facts and (axes.count(",") or "strided" in facts) for _, _, _, axes, facts in self.tensors)


def sizes(op, others=SMALL, **given):
    return ["--size=%s=%d" % (s, given.get(s, 5 if s == "P" else others)) for s in op.dense]


def of_graph(name, rows=None):
    return lambda op: [["--graph=" + name] + sizes(op) + ["--size=%s=%d" % (s, rows) for s in op.other_rows if rows]]


def of_option(*words):
    return lambda op: [["--graph=gaps", *words] + sizes(op)]


def of_extent(n):
    graph, others = ("path:2", 1) if n > 100 else ("er:7:20", SMALL)
    return lambda op: [["--graph=" + graph] + sizes(op, others, **{s: n}) for s in op.dense]


def of_value(value):
    return lambda op: [["--graph=er:7:20", "--param=%s=%s" % (x, value)] + sizes(op) for x in op.floats()]


def several(*ways):
    return lambda op: [v for way in ways for v in way(op)]


def needs_rows(op):
    return "" if op.rows else "no map leads to rows"


def needs_ends(op):
    return "" if op.ends else "no edges with two ends"


def needs_two_spaces(op):
    return needs_ends(op) or ("" if any(len(set(e)) > 1 for e in op.ends) else "one space of nodes")


def needs_strides(op):
    return "" if op.has_strides() else "no tensor may have strides"


def needs_floats(op):
    return "" if op.floats() else "no tensor of floats comes in"


def needs_dense(op):
    return "" if op.dense else "has no F"


def nothing(op):
    return ""


CASES = [   # name, variants of an op, why an op has none
    ("no nodes", of_graph("empty:0"), nothing), ("no edges", of_graph("empty:5"), nothing)]
CASES += [("F=%d" % n, of_extent(n), needs_dense) for n in (0, 1, 31, 32, 33, 1023)]
CASES += [
    ("empty rows", of_graph("gaps", rows=40), needs_rows), ("all in one row", of_graph("one", rows=1), needs_rows),
    ("duplicates", of_graph("twice"), needs_ends), ("self loops", of_graph("loops"), needs_ends),
    ("n_src > n_dst", of_graph("wide"), needs_two_spaces), ("n_src < n_dst", of_graph("tall"), needs_two_spaces),
    ("misaligned", of_option("--layout=misaligned"), nothing), ("strided", of_option("--layout=strided"), needs_strides),
    ("NaN", of_value("nan"), needs_floats), ("Inf", of_value("inf"), needs_floats), ("-Inf", of_value("-inf"), needs_floats),
    ("all of these", several(of_option("--values=special"), of_option("--values=special", "--seed=1")), needs_floats),
    ("offsets to 2^31", of_option("--layout=reach"), needs_strides), ("offsets past it", of_option("--layout=far"), needs_strides),
    ("int32", of_option("--index=32"), nothing), ("int64", of_option("--index=64"), nothing)]
UNCERTAIN = {("power_aggr", "no edges")}   # rounding could turn each result: a power of a mean of nothing, 0
TARGETS = ["host", "sim"]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def ops_of(gnnc, path):
    done = run([gnnc, path, "-D", "S=3", "-Wno-unused-option", "--emit=tensor", "-o", "-"])
    return [Op(name, text) for name, text in re.findall(r"^op (\w+)(.*?)^\}", done.stdout, re.M | re.S) if not re.search(r"_grad(_|$)", name)]  # test/autodiff has those


def write_graphs(folder):
    for name, (rows, columns, edges) in GRAPHS.items():
        for kind, of in (("", edges), (".symmetric", SYMMETRIC.get(name, []))):
            with open(os.path.join(folder, name + kind + ".mtx"), "w") as f:
                f.write("%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n" % (rows, columns, len(of)))
                f.writelines("%d %d\n" % e for e in of)


def jobs_of(path, ops, level):
    """Ops of a file that share a case, a target and options are run at once."""
    jobs = collections.defaultdict(list)
    for number, (case, variants, lacks) in enumerate(CASES):
        for op in ops:
            for k, words in enumerate([] if lacks(op) else variants(op)):
                for target in TARGETS:
                    if level == "full" or (k == 0 and target == ("host" if number % 4 == 0 else "sim")):
                        jobs[path, case, target, (*words, "-O0") if level == "quick" else tuple(words)].append(op.name)
    return list(jobs.items())


def plain(op):
    return re.sub(r"_(f16|bf16|f32|f64)(?=_|$)", "", op)


def attempt(gnnc, folder, job, symmetric):
    (path, _, target, words), names = job
    words = [re.sub(r"^--graph=(er:7:20|path:2)$", "--graph=clique:5", w) for w in words] if symmetric else words
    files = [re.sub(r"^--graph=(%s)$" % "|".join(GRAPHS), r"--graph=%s/\1%s.mtx" % (folder, ".symmetric" if symmetric else ""), w) for w in words]
    command = [gnnc, "run", path, "--target=" + target, "--check", "--max-errors=0", "-Wno-unused-option", "-DS=3", *files] + ["--op=" + n for n in names]
    done = run(command)
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()]
    return command, done, {plain(r[0]): r for r in rows if len(r) == 10 and r[0] != "op"}


def judge(gnnc, folder, job):
    """{op: elements compared} of those that are right, those that refuse, and what is wrong."""
    (_, case, target, words), names = job
    command, done, rows = attempt(gnnc, folder, job, False)
    asks = {plain(o) for o in re.findall(r"error\[E0820\]: (\w+):", done.stderr)}
    if asks:
        again = (job[0], [n for n in names if plain(n) in asks])
        _, retried, more = attempt(gnnc, folder, again, True)
        rows.update(more)
        asks = {plain(o) for o in re.findall(r"error\[E0820\]: (\w+):", retried.stderr)}
    asks |= {plain(o) for o in re.findall(r"error\[E0819\]: (\w+): '\w+' cannot map", done.stderr)}
    asks |= {op for op, r in rows.items() if r[9] == "not compared" and (op, case) in UNCERTAIN}
    right = {op: int(r[5]) for op, r in rows.items() if r[9] == "right"}
    wrong = ["%s, %s, %s: %s --op=%s\n    %s" % (n, case, target, " ".join(w for w in command if not w.startswith("--op=")), n,
                                              "\n    ".join([line for line in done.stderr.splitlines() if "error" in line][:3]))
             for n in names if plain(n) not in right | dict.fromkeys(asks)]
    return right, asks, wrong


def print_table(ops, seen, refused, compared):
    """A line an op, a column a case: how many runs were right, or the letter of a reason."""
    reasons = {}
    lines = ["%-28s %s" % ("", " ".join("%4d" % i for i in range(1, len(CASES) + 1)))]
    totals, excused = collections.Counter(), collections.Counter()
    for op in sorted(ops, key=lambda o: o.name):
        cells = []
        for case, _, lacks in CASES:
            n, why = seen[plain(op.name), case], lacks(op)
            why = why or (PRECONDITION if not n and (plain(op.name), case) in refused else "")
            cells.append("%4d" % n if n else "   " + reasons.setdefault(why, chr(ord("a") + len(reasons))) if why else "   !")
            totals[case] += n
            excused[case] += bool(why)
        lines.append("%-28s %s" % (op.name, " ".join(cells)))
    lines += ["%2d %-16s %6d runs right, %3d ops excused" % (i + 1, case, totals[case], excused[case]) for i, (case, _, _) in enumerate(CASES)]
    lines += ["%s: %s" % (letter, why) for why, letter in reasons.items()]
    lines.append("%d ops, %d cases: %d runs right, %d elements compared, %d (op, case) excused" % (
        len(ops), len(CASES), sum(totals.values()), compared, sum(excused.values())))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--level", default="quick", choices=["quick", "full"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    parser.add_argument("files", nargs="*")
    a = parser.parse_intermixed_args()
    files = a.files or sorted(os.path.join(LIBRARY, f) for f in os.listdir(LIBRARY) if f.endswith(".gnn") and f != "prelude.gnn")
    began, seen, compared, faults, ops, jobs, refused = time.time(), collections.Counter(), 0, [], [], [], set()
    for path in files:
        found = ops_of(a.gnnc, path)
        ops += found
        jobs += jobs_of(path, found, a.level)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        write_graphs(folder)
        for (key, _), (right, asks, wrong) in zip(jobs, pool.map(lambda j: judge(a.gnnc, folder, j), jobs)):
            faults += wrong
            compared += sum(right.values())
            seen.update((op, key[1]) for op in right)
            refused |= {(op, key[1]) for op in asks}
    faults += ["%s has neither a run of '%s' nor a reason" % (op.name, case) for op in ops for case, _, lacks in CASES
               if not seen[plain(op.name), case] and not lacks(op) and (plain(op.name), case) not in refused]
    faults += ["%s is right in no case" % op.name for op in ops if not any(seen[plain(op.name), case] for case, _, _ in CASES)]
    lines = print_table(ops, seen, refused, compared) + ["%d faults in %.0f s" % (len(faults), time.time() - began)] + faults
    print("\n".join(lines))
    if a.out:
        with open(a.out, "w") as out:
            out.write("\n".join(lines) + "\n")
    return 1 if faults or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
