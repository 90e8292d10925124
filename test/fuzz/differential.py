#!/usr/bin/env python3
"""Cases of `gnnc test` over the library and over ops drawn at random: what CI runs some of, and a release many.

Usage: differential.py GNNC [--cases N] [--seed S] [--jobs 2] [--save DIR] [--random SHARE] [--target sim,host] [--op NAME] [--executed SHARE]

A case is one op under one schedule with one choice of sizes, types and layouts, on up to three graphs. --random per cent of them are of ops of
random_ops.py, three cases an op; the others go round the files of the library and test/run/new_ops.gnn. Exit status 1: a case
failed, or less than --executed per cent of them ran.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import time

import random_ops

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINE = re.compile(r"^\w+: right in all (\d+) runs of (\d+) cases(?:, (\d+) random schedules among them)?(?:; (\d+) schedules were refused with a reason)?$", re.M)
BATCH, A_RANDOM_OP, SIZES = 20, 3, ["-D", "S=3"]


def library():
    folder = os.path.join(ROOT, "stdlib")
    files = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".gnn") and f != "prelude.gnn"]
    return files + [os.path.join(ROOT, "test", "run", "new_ops.gnn")]


def random_op(args, number):
    case = random_ops.make(args.seed, number)
    path = os.path.join(args.save, "op-%d-%d.gnn" % (args.seed, number))
    with open(path, "w", encoding="utf-8") as f:
        f.write(case.text())
    sizes = [w for k, w in enumerate(case.options) if w == "-D" or (k and case.options[k - 1] == "-D")]
    return path, sizes, A_RANDOM_OP


def batches(args):
    files, left, number, of_random = library(), args.cases, 0, 0
    while left > 0:
        if of_random * 100 < args.random * (args.cases - left + 1) and not args.op:
            n = min(left, A_RANDOM_OP)
            yield "random", number, n
            of_random += n
        else:
            n = min(left, BATCH)
            yield files[number % len(files)], number, n
        left -= n
        number += 1


def run(args, batch):
    path, number, n = batch
    drawn = path == "random"
    path, sizes, n = random_op(args, number) if drawn else (path, SIZES, n)
    command = [args.gnnc, "test", path, "-j1", "-Wno-unused-option", "--cases=%d" % n, "--seed=%d" % args.seed, "--first=%d" % (number * BATCH),
               "--save=" + args.save] + sizes + ["--target=" + args.target] + (["--op=" + args.op] if args.op else [])
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    count = [sum(int(m.group(k) or 0) for m in LINE.finditer(done.stdout)) for k in (1, 2, 3, 4)]
    if args.op and "has no op" in done.stderr:
        return [0, 0, 0, 0], ""
    bad = done.returncode != 0 and not (drawn and random_ops_refused(done))
    if drawn and not bad:
        os.remove(path)
    return count, " ".join(command) + "\n" + done.stdout[-3000:] + done.stderr[-1000:] if bad else ""


def random_ops_refused(done):
    """An op that the language does not take, by a diagnostic: random_ops.py counts such."""
    return done.returncode == 1 and "right in" not in done.stdout and "FAILS" not in done.stdout


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("--cases", type=int, default=400)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--random", type=int, default=30)
    p.add_argument("--executed", type=int, default=0)
    p.add_argument("--target", default="sim,host")
    p.add_argument("--op")
    p.add_argument("--save", default="gnnc-test")
    args = p.parse_args()
    os.makedirs(args.save, exist_ok=True)
    began, total, failed = time.time(), [0, 0, 0, 0], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for count, fault in pool.map(lambda b: run(args, b), batches(args)):
            total = [a + b for a, b in zip(total, count)]
            if fault:
                failed += 1
                print(fault, flush=True)
    runs, cases, schedules, refused = total
    print("%d cases: %d runs right, %d random schedules executed, %d refused, %d batches failed, in %.0f s" %
          (cases, runs, schedules, refused, failed, time.time() - began))
    few = 100 * schedules < args.executed * (schedules + refused)
    return 1 if failed or few or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
