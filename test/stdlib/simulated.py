#!/usr/bin/env python3
"""Every op of the library, by every plan it ships, with three block sizes in three orders of warps, in the simulator: no report, and
what the definition says.

Usage: simulated.py GNNC [--level=quick|each|full] [--jobs=2] [--out=FILE] [FILE.gnn ...]

Plans are the naive one, each version of the default (their blocks: --block-size) and each schedule of schedules/ for GPUs (theirs: what
they say of groups and lanes, multiplied and divided: block_sizes.py). Orders are those of --sim-order; --check launches twice, the second
time in the opposite order or by another seed, and compares the bits. Graphs are small and awkward; all of them run in each of the sizes
below. full: every plan, block size and order with each other; each: each block size in one of the orders, on some of the graphs, without
what the default makes of sizes that are known when compiling; quick: the ops take turns, each has one of those block sizes. A plan has to be right in some case at each block size and order that is
run, or the exit status is 1, as it is after any fault.
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

import block_sizes

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(HERE)), "stdlib")
ALLOWED = {"E0820"}   # symmetric(src, dst) on a graph that is not
BLOCKS = ["64", "256", "512"]
ORDERS = ["forward", "reverse", "random"]
MULTIPLES = dict(C=8, F=16, K=8, Q=8, H=4, D=8, J=8, P=8, M=8)   # what schedules with vectors are for, and a class of the default's extents
WIDE = dict(C=72, F=72, K=8, Q=72, H=2, D=72, J=72, P=72, M=72)   # another class
ODD = dict(C=5, F=5, K=3, Q=7, H=3, D=5, J=5, P=5, M=5)          # the last one
# Of one node and thirty edges: all maps ascend, and have many points a value.
TILED = dict(WIDE, N=1, B=30, L=1, R=1)
# For plans that were right in none of those.
LARGER = [TILED, dict(MULTIPLES, H=8), dict(WIDE, K=72, H=72), dict(MULTIPLES, P=5), dict(WIDE, K=72, P=5),   # cheb: P == S + 2
          *(dict(MULTIPLES, K=n, Q=n) for n in (16, 32, 64))]   # rgcn



def edges_of_graphs():
    """{name: (rows, columns, edges)}, from columns to rows; in a file, node 1 is the first."""
    hubs = [(1 + i * i % 3, 1 + i * 7 % 24) for i in range(60)] + [(9, 9), (9, 9), (24, 9), (24, 24)]
    return {"hubs": (24, 24, hubs),                                             # three rows have nearly all, most are empty; self loops
            "one_row": (9, 9, [(4, 1 + i * 5 % 9) for i in range(264)]),        # a long row of duplicates
            "one_node": (1, 1, [(1, 1)] * 30),
            "loops": (7, 7, [(i, i) for i in range(1, 8)] + [(3, 3)] * 2),
            "wide": (5, 33, [(1 + i % 3, 1 + i * 11 % 33) for i in range(40)]),   # fewer rows than columns, and the other way
            "tall": (37, 4, [(1 + i * 5 % 19, 1 + i % 4) for i in range(50)])}


def write_graphs(folder):
    for name, (rows, columns, edges) in edges_of_graphs().items():
        with open(os.path.join(folder, name + ".mtx"), "w") as f:
            f.write("%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n" % (rows, columns, len(edges)))
            f.writelines("%d %d\n" % e for e in edges)


def graphs_for(folder, sizes, level):
    """Those of a level and of sizes; large ones cost time."""
    awkward = [os.path.join(folder, name + ".mtx") for name in edges_of_graphs()]
    hubs, one_row, one_node, loops, wide, tall = awkward
    if sizes is TILED:
        return [one_node]
    if sizes in LARGER:
        return [loops]
    few = [loops, "clique:5"] if sizes is WIDE else [hubs, one_row, "clique:5"]
    if level != "full":
        return few[:1] + few[-1:] if sizes is ODD else few
    return [one_row] + few if sizes is WIDE else awkward + ["clique:5", "empty:0", "empty:3", "batch:3:4:0.5", "rmat:4:3,types=7"]


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def ops_of(gnnc, path):
    done = run([gnnc, path, "-D", "S=3", "-Wno-unused-option", "--emit=tensor", "-o", "-"])
    return [re.sub(r"_f32$", "", op) for op in re.findall(r"^op (\w+)", done.stdout, re.M) if not re.search(r"_grad(_|$)", op)]  # test/autodiff has those


def plain(op):
    return re.sub(r"_f32(?=_|$)", "", op)


def variants(gnnc, name, ops, folder, pool):
    """Three files of the schedules for a file of the library, one a block size; those that are but classes of rows; what has fewer."""
    source = os.path.join(HERE, "schedules", "for_" + name)
    schedules = block_sizes.read(source)
    named = block_sizes.applying(gnnc, source, ops)
    classes = {(of, c) for (of, _), text in schedules.items() for c in block_sizes.classes_of(text)}
    jobs = [k for k in schedules if k not in classes]
    sizes = list(pool.map(lambda k: block_sizes.three_sizes(gnnc, name[:-4], schedules, *k, named.get(k), folder) if k in named else [], jobs))
    faults = ["%s: %s %s has %d block sizes" % (name, *k, len(s)) for k, s in zip(jobs, sizes) if len(s) < 3]
    paths = []
    for i in range(3):
        path = os.path.join(folder, "for_%d_%s" % (i, name))
        with open(path, "w", encoding="utf-8") as f:
            f.write('import "%s";\n' % name[:-4] + "\n".join(t for s in sizes if i < len(s) for t in s[i][1]) + "\n")
        paths.append(path)
    return paths, {c for _, c in classes}, faults


# known: sizes are, when compiling. classes: names of schedules that are but classes of rows; None where no plan is by hand.
Job = collections.namedtuple("Job", "block order classes ops words sizes known")


def jobs_of(gnnc, files, folder, level, pool):
    jobs, faults = [], []
    for path in files:
        ops = ops_of(gnnc, path)
        by_hand, classes, few = variants(gnnc, os.path.basename(path), ops, folder, pool)
        faults += few
        for i, block in enumerate(BLOCKS):
            for k, order in enumerate(ORDERS):
                taken = ops[i::len(BLOCKS)] if level == "quick" else ops
                if not taken or (level != "full" and i != k):
                    continue
                shipped = [path, "--block-size=" + block]
                jobs += [Job(i, order, None, taken, shipped, sizes, known) for sizes in (MULTIPLES, WIDE, ODD)
                         for known in ((False, True) if level == "full" else (False,))]
                jobs.append(Job(i, order, classes, taken, [by_hand[i]], MULTIPLES, True))
    return jobs, faults


def rows_of(text):
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 10 and cells[0] != "op":
            yield plain(cells[0]), cells[3], cells[5], cells[9]


def judge(gnnc, job, folder, level):
    """{(op, plan): counts of verdicts}, elements compared, faults."""
    command = [gnnc, "run", *job.words, "--sim-order=" + job.order, "--target=sim", "--check", "--all-plans", "--max-errors=0", "-Wno-unused-option"]
    command += ["--graph=" + g for g in graphs_for(folder, job.sizes, level)] + ["--op=" + op for op in job.ops]
    command += ["-DS=3"] + [("-D%s=%d" if job.known else "--size=%s=%d") % size for size in job.sizes.items()]
    done, shown = run(command), " ".join(command)
    codes = set(re.findall(r"error\[(E\d+)\]", done.stderr))
    seen, compared, faults = collections.defaultdict(collections.Counter), 0, []
    for op, plan, elements, verdict in rows_of(done.stdout):
        word = re.sub(r" .*", "", plan)
        if job.classes is not None and word in job.classes | {"naive", "default"}:
            continue
        seen[op, plan + (", sizes known" if job.known and job.classes is None else "")][verdict] += 1
        compared += int(elements) if elements != "-" else 0
        if verdict == "WRONG":
            faults.append("%s (%s) WRONG: %s" % (op, plan, shown))
    if codes - ALLOWED or done.returncode not in (0, 1) or not seen:
        faults.append("exit %d: %s\n%s" % (done.returncode, shown, "\n".join(done.stderr.splitlines()[:12])))
    return seen, compared, faults


def never_right(table):
    return [(op, plan, *setting) for (op, plan), at in sorted(table.items()) for setting, c in at.items() if plan[0] != "-" and not c["right"]]


def larger(jobs, table):
    """Jobs for the ops that the sizes so far have left a plan of out, once."""
    missing = collections.defaultdict(set)
    for op, plan, *setting in never_right(table):
        missing[(*setting, plan.endswith("known"))].add(op)
    wanted = [j._replace(ops=[op for op in j.ops if plain(op) in missing[j.block, j.order, j.known]]) for j in jobs if j.sizes is MULTIPLES]
    return [j._replace(sizes=sizes) for j in wanted if j.ops and j.classes is None for sizes in LARGER]


def print_table(table, ran, seconds, compared, faults):
    ops = collections.defaultdict(dict)
    for (op, plan), at in table.items():
        ops[op][plan] = at
    lines = ["%-32s %6s %6s %8s %6s %8s" % ("op", "plans", "right", "refused", "unfit", "settings")]
    total = collections.Counter()
    for op, plans in sorted(ops.items()):
        n = sum((c for at in plans.values() for c in at.values()), collections.Counter())
        settings = sum(c["right"] > 0 for at in plans.values() for c in at.values())
        lines.append("%-32s %6d %6d %8d %6d %8d" % (op, len(plans), n["right"], n["refused"], n["unfit"], settings))
        total += n + collections.Counter(plans=len(plans), settings=settings)
    lines.append("%d ops, %d plans, %d settings of block size and order: %d (plan, setting) right in some case; %d runs right, %d refused, %d unfit, "
                 "%d faults, %d elements compared in %.0f s" % (len(ops), total["plans"], ran, total["settings"], total["right"], total["refused"],
                                                             total["unfit"], len(faults), compared, seconds))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--level", default="quick", choices=["quick", "each", "full"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out")
    parser.add_argument("files", nargs="*")
    a = parser.parse_intermixed_args()
    files = a.files or sorted(os.path.join(LIBRARY, f) for f in os.listdir(LIBRARY) if f.endswith(".gnn") and f != "prelude.gnn")
    began, compared = time.time(), 0
    table = collections.defaultdict(lambda: collections.defaultdict(collections.Counter))
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        write_graphs(folder)
        jobs, faults = jobs_of(a.gnnc, files, folder, a.level, pool)
        while jobs:
            for job, (seen, n, wrong) in zip(jobs, pool.map(lambda j: judge(a.gnnc, j, folder, a.level), jobs)):
                compared += n
                faults += wrong
                for key, counts in seen.items():
                    table[key][job.block, job.order] += counts
            jobs = larger(jobs, table)
    faults += ["%s (%s), block size %d, %s: right in no case" % missing for missing in never_right(table)]
    ran = len({setting for at in table.values() for setting in at})
    lines = print_table(table, ran, time.time() - began, compared, faults) + faults
    print("\n".join(lines))
    if a.out:
        with open(a.out, "w") as out:
            out.write("\n".join(lines) + "\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
