#!/usr/bin/env python3
"""Attention under compute-sanitizer: every version of the default schedule, the naive plan and each schedule of
ways.gnn, forward and backward. Packs are made by gnnc, which needs no GPU, and executed by gnnc-replay under
each tool; a line a tool and pack, and one of all.

    sanitize.py --folder=FOLDER --jobs=8                  # both
    sanitize.py --folder=FOLDER --make=no                 # executes the packs that are there"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

import crossover
import ops

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
# Rows of several parts, of many edges and of none.
GRAPHS = ("hubs:20:70", "er:9:40", "star:1200", "rmat:6:6")


def words(text):
    return text.split(",")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", required=True, help="of the packs")
    p.add_argument("--make", choices=("yes", "no", "only"), default="yes")
    p.add_argument("--ops", type=words, default=list(ops.OPS))
    p.add_argument("--shapes", type=words, default=["1x32", "8x8", "3x20"])
    p.add_argument("--dtypes", type=words, default=["f32", "f16", "bf16"])
    p.add_argument("--graphs", type=words, default=list(GRAPHS))
    p.add_argument(
        "--tools", type=words, default=list(TOOLS), help="of %s; none: gnnc-replay alone" % ", ".join(TOOLS)
    )
    p.add_argument("--packs", type=int, default=12)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--each", type=int, default=200, help="seconds a record may take")
    p.add_argument("--seconds", type=float, default=540, help="nothing begins after so long")
    p.add_argument("--sanitizer", default="compute-sanitizer")
    p.add_argument("--target", default="cuda")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--gnnc", default=os.path.join(ops.ROOT, "build", "bin", "gnnc"))
    p.add_argument("--replay", help="without, gnnc-replay beside gnnc")
    return p.parse_args()


def jobs_of(o):
    """(file, names, case, schedule): the passes of an op by the default, schedules of gt one by one."""
    for case in ops.select(o.ops, o.dtypes, o.shapes):
        op = ops.OPS[case.op]
        yield op.file, [op.name + suffix for suffix in ops.PASSES.values()], case, None
        if case.op == "gt":
            for way in crossover.ways_of(crossover.WAYS).values():
                for schedule in filter(None, way[case.dtype != "f32"]):
                    yield crossover.WAYS, ["gt"], case, schedule


def pack(o, job, out):
    file, names, case, schedule = job
    command = [
        o.gnnc,
        "run",
        os.path.join(ops.ROOT, file),
        "-I",
        os.path.join(ops.ROOT, "stdlib"),
        "--target=" + o.target,
        "--arch=" + o.arch,
        "--all-plans",
        "--check",
        "--pack=" + out,
        *ops.defines(case),
        *("--op=" + name for name in names),
        *("--graph=" + g for g in o.graphs),
    ]
    r = subprocess.run(
        command + (["--schedule=" + schedule] if schedule else []),
        capture_output=True,
        text=True,
        errors="replace",
    )
    refused = schedule and "error[E05" in r.stderr  # a way may need more features than there are
    if r.returncode and not refused:
        return "%s %s: exit status %d: %s" % (
            " ".join(names),
            schedule or "",
            r.returncode,
            r.stderr.strip()[-300:],
        )
    return ""


def make(o):
    os.makedirs(o.folder, exist_ok=True)
    jobs = list(jobs_of(o))
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        parts = [os.path.join(scratch, str(k)) for k in range(len(jobs))]
        faults = [f for f in pool.map(lambda k: pack(o, jobs[k], parts[k]), range(len(jobs))) if f]
        made = [part for part in parts if os.path.exists(part)]
        for n in range(min(o.packs, len(made))):
            with open(os.path.join(o.folder, "attention-%d.pack" % n), "wb") as out:
                for part in made[n :: o.packs]:
                    with open(part, "rb") as f:
                        out.write(f.read())
    counts = len(made), len(jobs) - len(made) - len(faults), len(faults)
    print("\n".join(faults + ["%d packed, %d schedules refused, %d faults" % counts]), flush=True)
    return len(faults)


def execute(o, tool, path, end):
    """(runs, wrong, what the tool found, a line)"""
    if time.time() > end:
        return 0, 0, 0, "not begun"
    start = time.time()
    command = [o.replay or os.path.join(os.path.dirname(o.gnnc), "gnnc-replay"), "--seconds=%d" % o.each, path]
    if tool != "none":
        command = [o.sanitizer, "--tool", tool, "--target-processes", "all", "--print-limit", "5", *command]
    try:
        r = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=max(end + 60 - time.time(), 60)
        )
    except subprocess.TimeoutExpired:
        return 0, 0, 1, "took longer than there was time"
    except OSError as missing:
        return 0, 0, 1, str(missing)
    text = r.stdout + r.stderr
    runs, wrong = (sum(map(int, re.findall(r"(\d+) " + word, text))) for word in ("runs", "wrong"))
    summaries = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:errors?|hazards?)", text)
    found = sum(map(int, summaries))
    told = [
        line
        for line in text.splitlines()
        if line.startswith("WRONG")
        or ("=========" in line and re.search(r"Invalid|hazard|Uninit|Barrier|Leaked|Error", line))
    ][:3]
    if tool != "none" and not summaries:
        found, told = 1, text.strip().splitlines()[-3:]
    if r.returncode and not wrong and not found:
        wrong, told = 1, text.strip().splitlines()[-3:]
    line = "%d runs, %d wrong, %d %s, %.0f s" % (
        runs,
        wrong,
        found,
        "hazards" if tool == "racecheck" else "errors",
        time.time() - start,
    )
    return runs, wrong, found, "; ".join([line, *told])


def main():
    o = parse()
    end = time.time() + o.seconds
    faults = make(o) if o.make != "no" else 0
    if o.make == "only":
        return 1 if faults else 0
    packs = sorted(os.path.join(o.folder, f) for f in os.listdir(o.folder) if f.endswith(".pack"))
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        begun = [(tool, path, pool.submit(execute, o, tool, path, end)) for tool in o.tools for path in packs]
        totals = {tool: [0, 0, 0, 0] for tool in o.tools}
        for tool, path, each in begun:
            runs, wrong, found, line = each.result()
            totals[tool] = [a + b for a, b in zip(totals[tool], (runs, wrong, found, line == "not begun"))]
            print("%-10s %-18s %s" % (tool, os.path.basename(path), line), flush=True)
    for tool, (runs, wrong, found, left) in totals.items():
        print("%s: %d runs, %d wrong, %d found, %d packs not begun" % (tool, runs, wrong, found, left))
        faults += wrong + found + left
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
