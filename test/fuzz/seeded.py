#!/usr/bin/env python3
"""Faults put into generated code on purpose: would the tests notice?

  seeded.py GNNC run LIST [--races] [--jobs 2] [--least N]   each line of LIST, `KIND:SITE FILE OP SCHEDULE [NAME=VALUE …]`: caught or not
  seeded.py GNNC draw COUNT [--races] [--kinds a,b] [--seed S]
                                                     lines for such a list, with what became of each; those that cannot be told
                                                     from right code (a bound that never decides) are left out by hand

A fault is caught if `gnnc run --check` in the simulator tells of a wrong result, or the simulator of a race, an access out
of bounds or a value never written; in one of a few runs, tried in turn. With --races the simulator must tell of a race.
FILE is of test/stdlib/schedules, or a path of the project's; SCHEDULE one of it, or `default` or `naive`: what the library's own file gets. NAME=VALUE is
a definition (T=f16) of all runs of the line.
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
RUNS = [r.split() for r in """er:20:90,types=3
er:20:90,types=3 --values=special
star:40,types=3 --layout=misaligned
er:7:40,types=3 --layout=strided
batch:3:4:0.5,types=3 --edges=mixed
hubs:300:900,types=3
star:600,types=3
star:5000,types=3
er:2:2400,types=3
batch:2:300:0.01,types=3
er:900:3000,types=3""".split("\n")]
# Where a guard of one tensor is lost, those of the others keep the version away from what is bad for all.
MORE_RUNS = {"guard": ["er:7:40,types=3 --layout=uneven --seed=%d" % s for s in range(12)], "narrow16": ["er:33000:33000,types=3"]}
SIZES = ["S=3", "F=72", "K=12", "Q=12", "H=4", "D=8", "J=8", "P=5", "M=4"]
RACES = "barrier early atomic overlap thread pair block".split()
KINDS = """room row_long row_short row_start stride mask mask_not choice edge swap operation identity lost narrow narrow16 address scale
store fence lane width fragment registers product element round truncate nan thread pair block grid launch sequence rounds guard map size temp temp_room""".split()
HALVES = {"truncate": "f16 bf16".split()}   # kinds that have sites in these types alone
SAID = re.compile(r"error\[(E07\d\d|E0823)\]")
RACE = "E0723"
SECONDS = 200


def command(gnnc, line, run):
    fault, file, op, schedule, *defines = line.split()
    plain = {"default": [], "naive": ["--no-schedule"]}.get(schedule)
    path = os.path.join(FOLDER, file) if plain is None else os.path.join(ROOT, "stdlib", file.replace("for_", ""))
    path = os.path.join(ROOT, file) if "/" in file else path
    how = ["--schedule=" + schedule] if plain is None else plain
    sizes = SIZES + (["B=4"] if op == "rgcn_blocks" else []) + defines
    return [gnnc, "run", path, "--op=" + op, *how, "--target=sim", "--check", "--all-plans", "--graph=" + run[0], *run[1:], "--max-errors=0",
            "--no-deterministic", "-Wno-unused-option", "--seed-fault=" + fault] + [w for s in sizes for w in ("-D", s)]


def call(words):
    try:
        return subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None


def outcome(gnnc, line, races):
    """What noticed the fault: the code of a diagnostic. Else "" and why nothing did."""
    for run in RUNS + [r.split() for r in MORE_RUNS.get(line.split(":")[0], [])]:
        done = call(command(gnnc, line, run))
        if done is None:
            return "", "no answer in %d s" % SECONDS
        if done.returncode == 2:
            return "", "there is no such site"
        if done.returncode not in (0, 1, 4):
            sys.exit("status %d: %s\n%s" % (done.returncode, line, done.stderr))
        codes = SAID.findall(done.stderr)
        if races and RACE in codes:
            return RACE, ""
        if not races and done.returncode and codes:
            return codes[0], ""
    return "", ""


def run(args):
    with open(args.what, encoding="utf-8") as f:
        lines = [l for l in (l.split("#")[0].strip() for l in f) if l]
    caught = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for line, (code, why) in zip(lines, pool.map(lambda l: outcome(args.gnnc, l, args.races), lines)):
            caught += code != ""
            if not code:
                print("not caught: %s%s" % (line, " (%s)" % why if why else ""), flush=True)
    print("%d of %d caught" % (caught, len(lines)))
    return 0 if caught >= (args.least or len(lines)) else 1


def schedules():
    for file in sorted(os.listdir(FOLDER)):
        text = open(os.path.join(FOLDER, file), encoding="utf-8").read()
        for op, name in re.findall(r"^schedule (\w+) (\w+)(?: like \w+)?(?: when [^{]*)? \{", text, re.M):
            yield file, op, name


def draw_line(args, rng, all_schedules, drawn, kind):
    """A site of the kind, of a file and an op that few lines have; None: in a hundred places there was none."""
    for _ in range(100):
        least = min(rng.sample(all_schedules, 8), key=lambda s: drawn.get(s[0], 0) + drawn.get(s[1], 0))
        file, op, name = least
        name = rng.choice([name, name, name, "default", "naive"])
        where = " ".join([file, op, name] + (["T=" + rng.choice(HALVES[kind])] if kind in HALVES else []))
        done = call(command(args.gnnc, "%s:sites %s" % (kind, where), RUNS[0]))
        sites = re.search(r"there are (\d+) sites", done.stderr if done else "")
        if sites and int(sites.group(1)):
            for word in (file, op):
                drawn[word] = drawn.get(word, 0) + 1
            return "%s:%d %s" % (kind, rng.randrange(int(sites.group(1))), where)
    return None


def draw(args):
    rng, all_schedules, drawn = random.Random(args.seed), list(schedules()), {}
    kinds = args.kinds.split(",") if args.kinds else RACES if args.races else KINDS
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        lines = (draw_line(args, rng, all_schedules, drawn, kinds[i % len(kinds)]) for i in range(int(args.what)))
        tried = [(l, pool.submit(outcome, args.gnnc, l, args.races)) for l in lines if l]
        for line, became in tried:
            code, why = became.result()
            print("%s    # %s" % (line, code or "NOT CAUGHT " + why), flush=True)
    return 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("mode", choices=["run", "draw"])
    p.add_argument("what")
    p.add_argument("--races", action="store_true")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--least", type=int, default=0)
    p.add_argument("--kinds", default="")
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    return {"run": run, "draw": draw}[args.mode](args)


sys.exit(main())
