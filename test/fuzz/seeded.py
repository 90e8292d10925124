#!/usr/bin/env python3
"""Faults put into generated code on purpose: would the tests notice?

  seeded.py GNNC run LIST [--jobs 2] [--least N]      each line of LIST, `KIND:SITE FILE OP SCHEDULE`: caught or not
  seeded.py GNNC draw COUNT [--kinds a,b] [--seed S]  lines for such a list, with what became of each; those that cannot be told
                                                      from right code (a bound that never decides) are left out by hand

A fault is caught if `gnnc run --check` in the simulator tells of a wrong result, or the simulator of a race, an access out
of bounds or a value never written; on each of a few graphs in turn. FILE is of test/stdlib/schedules.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "test", "stdlib", "schedules")
GRAPHS = ["er:20:90,types=3", "hubs:300:900,types=3", "star:40,types=3", "batch:3:4:0.5,types=3", "er:900:3000,types=3"]
SIZES = ["S=3", "F=20", "K=12", "Q=12", "H=4", "D=8", "J=8", "P=5", "M=4"]
KINDS = ("room row_long row_short row_start stride mask mask_not edge swap operation identity lost narrow address scale store lane width "
         "element round thread block").split()
SAID = re.compile(r"error\[(E07\d\d|E0823)\]")


def command(gnnc, file, op, schedule, fault, graph):
    sizes = [w for s in SIZES for w in ("-D", s)] + (["-D", "B=4"] if op == "rgcn_blocks" else [])
    return [gnnc, "run", os.path.join(FOLDER, file), "--op=" + op, "--schedule=" + schedule, "--target=sim", "--check", "--all-plans", "--graph=" + graph,
            "--no-deterministic", "-Wno-unused-option", "--seed-fault=" + fault] + sizes


def call(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=100)
    except subprocess.TimeoutExpired:
        return None


def outcome(gnnc, line):
    """What noticed the fault: the code of a diagnostic; "" nothing did; "none": there is no such site."""
    fault, file, op, schedule = line.split()
    for graph in GRAPHS:
        done = call(command(gnnc, file, op, schedule, fault, graph))
        if done is None:
            return "hangs"
        if done.returncode == 2:
            return "none"
        if done.returncode not in (0, 1, 4):
            sys.exit("status %d: %s\n%s" % (done.returncode, line, done.stderr))
        found = SAID.search(done.stderr)
        if done.returncode == 4 or (done.returncode and found):
            return found.group(1) if found else "status %d" % done.returncode
    return ""


def run(args):
    with open(args.what, encoding="utf-8") as f:
        lines = [l.strip() for l in f if l.strip() and not l.startswith("#")]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        became = list(pool.map(lambda l: outcome(args.gnnc, l), lines))
    caught = sum(b not in ("", "none") for b in became)
    for line, b in zip(lines, became):
        if b in ("", "none"):
            print("not caught: %s%s" % (line, " (there is no such site)" if b else ""))
    print("%d of %d caught" % (caught, len(lines)))
    return 0 if caught >= (args.least or len(lines)) else 1


def schedules():
    for file in sorted(os.listdir(FOLDER)):
        text = open(os.path.join(FOLDER, file), encoding="utf-8").read()
        for op, name in re.findall(r"^schedule (\w+) (\w+)(?: like \w+)?(?: when [^{]*)? \{", text, re.M):
            yield file, op, name


def draw(args):
    rng, all_schedules, seen = random.Random(args.seed), list(schedules()), set()
    kinds = args.kinds.split(",") if args.kinds else KINDS
    lines = []
    while len(lines) < int(args.what):
        file, op, schedule = rng.choice(all_schedules)
        kind = kinds[len(lines) % len(kinds)]
        done = call(command(args.gnnc, file, op, schedule, kind + ":sites", GRAPHS[0]))
        sites = re.search(r"there are (\d+) sites", done.stderr if done else "")
        if not sites or not int(sites.group(1)):
            if (kind, op, schedule) in seen:
                lines.append(None)
            seen.add((kind, op, schedule))
            continue
        lines.append("%s:%d %s %s %s" % (kind, rng.randrange(int(sites.group(1))), file, op, schedule))
    lines = sorted({l for l in lines if l})
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for line, b in zip(lines, pool.map(lambda l: outcome(args.gnnc, l), lines)):
            if b != "none":
                print("%s    # %s" % (line, b or "NOT CAUGHT"), flush=True)
    return 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("mode", choices=["run", "draw"])
    p.add_argument("what")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--least", type=int, default=0)
    p.add_argument("--kinds", default="")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    return {"run": run, "draw": draw}[args.mode](args)


sys.exit(main())
