#!/usr/bin/env python3
"""Cases of `gnnc test` over the library and over ops drawn at random: what CI runs some of, and a release many.

Usage: differential.py GNNC [--cases N] [--seconds S] [--seed S] [--jobs 2] [--save DIR] [--random SHARE] [--target sim,host] [--op NAME] [--executed SHARE] [--pack PREFIX [--until MIB] [--pack-size MIB]]

A case is one op under one schedule with one choice of sizes, types and layouts, on up to three graphs. --random per cent of them are of ops of
random_ops.py, three cases an op, a third of them with gradients; the others go round the files of the library, test/run/new_ops.gnn and
tests with schedules by hand, of which statements are taken over, too. Exit status 1: a case failed, or less than --executed per cent of them ran.

--pack runs nothing: PREFIX-0.pack, PREFIX-1.pack … hold the cases, for gnnc-replay on a machine with a GPU (bench/replay). Random ops
stay in the folder of --save, since the commands in a pack name them.
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
LINE = re.compile(r"^[\w.]+: (?:right in all|packed) (\d+) runs of (\d+) cases(.*)$", re.M)
MORE = [re.compile(t) for t in (r", (\d+) random schedules", r"(\d+) schedules were refused", r"(\d+) changes of inputs followed", r"followed, (\d+) skipped")]
FAILS = re.compile(r"^[\w.]+: FAILS in \d+ of (\d+) cases$", re.M)
BATCH, A_RANDOM_OP, SIZES = 20, 3, ["-D", "S=3"]
NOTHING = re.compile(r"^[\w.]+: NOT TESTED in (\d+) cases$", re.M)   # all that was drawn was refused: a case, too


def library():
    folder = os.path.join(ROOT, "stdlib")
    files = [os.path.join(folder, f) for f in sorted(os.listdir(folder)) if f.endswith(".gnn") and f != "prelude.gnn"]
    return files + [os.path.join(ROOT, "test", "run", "new_ops.gnn")] + [f for f in WRITTEN if os.path.basename(os.path.dirname(f)) != "schedules"]


ILL = {"default_extremes.gnn"}   # a reducer of its own with an identity that is none: the order decides


def written():
    """Schedules by hand, of the library's ops and of tests: statements are taken over from these."""
    folders = [os.path.join(ROOT, "test", *f) for f in (("stdlib", "schedules"), ("schedule",), ("passes",))]
    files = [os.path.join(folder, f) for folder in folders for f in sorted(os.listdir(folder)) if f.endswith(".gnn")]
    texts = [(f, open(f, encoding="utf-8").read()) for f in files]
    texts = [(f, text) for f, text in texts if os.path.basename(f) not in ILL]
    return [f for f, text in texts if re.search(r"^schedule ", text, re.M) and "%expect" not in text and "not %gnnc" not in text]


WRITTEN = written()


def taken(number):
    return ["--take=" + WRITTEN[(number * 7 + k) % len(WRITTEN)] for k in range(3)]


def counts(text):
    found = [[int(m[1]), int(m[2])] + [sum(int(n) for n in more.findall(m[3])) for more in MORE] for m in LINE.finditer(text)]
    total = [sum(column) for column in zip(*found)] or [0] * 6
    total[1] += sum(int(m[1]) for pattern in (NOTHING, FAILS) for m in pattern.finditer(text))
    return total


def random_op(args, number):
    case = random_ops.make(args.seed, number)
    path = os.path.join(args.save, "op-%d-%d.gnn" % (args.seed, number))
    floats = re.findall(r"(\w+): (?:T|f16|bf16|f32|f64)\[", " ".join(case.parameters))
    with open(path, "w", encoding="utf-8") as f:
        f.write(case.text() + ("grad main wrt (%s);\n" % ", ".join(floats[:2]) if floats and number % 3 == 0 else ""))
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
            yield files[(number + 17 * args.seed) % len(files)], number, n   # runs of few cases begin at other files
        left -= n
        number += 1


def sizes_of(path):
    """S, and the sizes that the file's own first command gives: some ops need an axis of a known length."""
    with open(path, encoding="utf-8") as f:
        command = next((line for line in f if "RUN:" in line), "")
    return SIZES + [w for size in re.findall(r" -D ?(\w+=\d+)", command) for w in ("-D", size)]


def run(args, batch):
    path, number, n = batch
    drawn = path == "random"
    path, sizes, n = random_op(args, number) if drawn else (path, sizes_of(path), n)
    command = [args.gnnc, "test", path, "-j1", "-Wno-unused-option", "--cases=%d" % n, "--seed=%d" % args.seed, "--first=%d" % (number * BATCH),
               "--save=" + args.save] + (["--pack=" + part(args, number)] if args.pack else []) + sizes + taken(number) + ["--target=" + args.target] + (["--op=" + args.op] if args.op else [])
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    count = counts(done.stdout)
    if args.op and "has no op" in done.stderr:
        return [0] * 6, ""
    bad = done.returncode != 0 and not ((drawn or path in WRITTEN) and random_ops_refused(done))
    if drawn and not bad and not args.pack:
        os.remove(path)
    return count, " ".join(command) + "\n" + done.stdout[-3000:] + done.stderr[-1000:] if bad else ""


def part(args, number):
    return os.path.join(args.save, "part-%d.pack" % number)


class Packs:
    """Files of at most so many bytes, in the order of the batches."""

    def __init__(self, args):
        self.args, self.files, self.out, self.bytes = args, 0, None, 0

    def add(self, number):
        path = part(self.args, number)
        if not os.path.exists(path):
            return
        with open(path, "rb") as f:
            data = f.read()
        os.remove(path)
        if self.out is None or self.out.tell() + len(data) > self.args.pack_size << 20:
            self.close()
            self.out = open("%s-%d.pack" % (self.args.pack, self.files), "wb")
            self.files += 1
        self.out.write(data)
        self.bytes += len(data)

    def full(self):
        return self.bytes >= self.args.until << 20

    def close(self):
        if self.out:
            self.out.close()


def random_ops_refused(done):
    """An op that the language does not take, by a diagnostic, or not with these sizes: random_ops.py counts such."""
    return done.returncode == 1 and not LINE.search(done.stdout) and not NOTHING.search(done.stdout) and "FAILS" not in done.stdout


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("--cases", type=int, default=400)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--seconds", type=float, default=1e9, help="no case is begun after so many")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--random", type=int, default=30)
    p.add_argument("--executed", type=int, default=0)
    p.add_argument("--target")
    p.add_argument("--pack", metavar="PREFIX")
    p.add_argument("--pack-size", type=int, default=8, help="MiB a file")
    p.add_argument("--until", type=int, default=58, help="MiB in all, after which nothing more is packed")
    p.add_argument("--op")
    p.add_argument("--save", default="gnnc-test")
    args = p.parse_args()
    args.target = args.target or ("cuda" if args.pack else "sim,host")
    packs = Packs(args)
    os.makedirs(args.save, exist_ok=True)
    began, total, failed = time.time(), [0] * 6, 0
    over = lambda: packs.full() or time.time() > began + args.seconds
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for batch, (count, fault) in zip(batches(args), pool.map(lambda b: ([0] * 6, "") if over() else run(args, b), batches(args))):
            packs.add(batch[1])
            total = [a + b for a, b in zip(total, count)]
            if fault:
                failed += 1
                print(fault, flush=True)
    runs, cases, schedules, refused, followed, skipped = total
    packs.close()
    if args.pack:
        print("%d packs, %d bytes: %.0f a run" % (packs.files, packs.bytes, packs.bytes / max(runs, 1)))
    if not args.pack:
        print("%d changes of inputs followed, %d skipped" % (followed, skipped))
    print("%d cases: %d runs %s, %d random schedules executed, %d refused, %d batches failed, in %.0f s" %
          (cases, runs, "packed" if args.pack else "right", schedules, refused, failed, time.time() - began))
    few = 100 * schedules < args.executed * (schedules + refused)
    return 1 if failed or few or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
