#!/usr/bin/env python3
"""Random ops, each compiled twice: as it was drawn, and with its equations in another order and its parameters, results, stages and
indices called otherwise. Both have one SIMT text but for those names, and so have their gradients.

Usage: renamed.py GNNC [--cases N] [--seed S] [--first I] [--save DIR] [--arch sm_90]

An op whose texts differ is left in DIR, under both names; the exit status is 1 if there was one.
"""
import argparse
import os
import random
import re
import subprocess
import sys

import random_ops

NAME = re.compile(r"\b(?:[a-eg-hj-z]\d+|i\d{1,2}|c[a-z]|z[A-Z])\b")
TAKEN = {"i8", "i16", "i32", "i64"}   # types
TOKEN = re.compile(r"(?:aa|mm|zz)\d+q")


def calls(text, rng):
    """What each name of an op is called: names that sort otherwise, and look like no other."""
    names = sorted(set(NAME.findall(text)) - TAKEN)
    rng.shuffle(names)
    return {name: "%s%dq" % (rng.choice(["aa", "mm", "zz"]), i) for i, name in enumerate(names)}


def reorder(body, rng):
    """The op with its equations in a random order, in which each stands behind those of what it reads. What shares memory or is
    read by a later step stays as it is."""
    lines = body.splitlines(keepends=True)
    at = [k for k, line in enumerate(lines) if re.match(r"    \w+\[.* = ", line)]
    steps = re.search(r"\[\w+ \+ 1\b", body)
    if "inplace(" in body or steps or len(at) < 2 or at[-1] - at[0] != len(at) - 1:
        return body
    sides = [lines[k].split(" = ", 1) for k in at]
    made = [set(re.findall(r"(\w+)\[", left)) for left, _ in sides]
    read = [set(re.findall(r"\w+", right)) for _, right in sides]
    left, order = list(range(len(at))), []
    while left:
        ready = [i for i in left if not any(
            j != i and made[j] & read[i] and (j < i or not made[j] & made[i]) for j in left)]
        order.append(rng.choice(ready or left[:1]))
        left.remove(order[-1])
    return "".join(lines[:at[0]] + [lines[at[i]] for i in order] + lines[at[-1] + 1:])


def kernels_by_number(text):
    """An equation of several for one result is called by its place, and a kernel by its equation."""
    kernels = re.findall(r"^kernel (\w+)", text, re.MULTILINE)
    return re.sub(r"\w+", lambda m: "kernel%d" % kernels.index(m[0]) if m[0] in kernels else m[0], text)


def simt(args, path, sizes, op):
    done = subprocess.run([args.gnnc, path, "--emit=simt", "--arch=" + args.arch, "--op=" + op, "-o", "-"] + sizes,
                          capture_output=True, text=True, errors="replace")
    return done.returncode, done.stdout


def compare(args, number):
    """None where the op is refused either way; else whether the texts are one."""
    case, rng = random_ops.make(args.seed, number), random.Random(args.seed * 1000003 + number)
    head, body = re.split(r"(?=^op main)", case.text(), maxsplit=1, flags=re.MULTILINE)
    floats = re.findall(r"(\w+): (?:T|f16|bf16|f32|f64)\[", " ".join(case.parameters))
    grad = bool(floats) and number % 3 == 0
    body += "grad main wrt (%s);\n" % ", ".join(floats[:2]) if grad else ""
    called = calls(body, rng)
    back = {new: old for old, new in called.items()}
    texts = [head + body, head + NAME.sub(lambda m: called.get(m[0], m[0]), reorder(body, rng))]
    sizes = [w for k, w in enumerate(case.options) if w == "-D" or (k and case.options[k - 1] == "-D")]
    paths = [os.path.join(args.save, "renamed-%d-%d-%s.gnn" % (args.seed, number, which)) for which in "ab"]
    for path, text in zip(paths, texts):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    same = None
    for op in ["main"] + ["main.grad"] * grad:
        (status, first), (other, second) = [simt(args, path, sizes, op) for path in paths]
        if status == 0 and other == 0:
            second = TOKEN.sub(lambda m: back.get(m[0], m[0]), second)
            one = kernels_by_number(first) == kernels_by_number(second)
            same = one and same is not False
        elif status != other:
            same = False
    if same is not False:
        for path in paths:
            os.remove(path)
    return same


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--save", default=".")
    parser.add_argument("--arch", default="sm_90")
    args = parser.parse_args()
    os.makedirs(args.save, exist_ok=True)
    outcomes = {number: compare(args, number) for number in range(args.first, args.first + args.cases)}
    for number in [n for n, same in outcomes.items() if same is False]:
        print("case %d of seed %d is compiled otherwise: %s" % (number, args.seed, args.save))
    counts = [list(outcomes.values()).count(v) for v in (True, False, None)]
    print("%d ops compiled alike, %d otherwise, %d refused" % tuple(counts))
    return counts[1] != 0


if __name__ == "__main__":
    sys.exit(main())
