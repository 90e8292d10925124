#!/usr/bin/env python3
"""Runs each schedule of files in the simulator, or on the host where it is for that, compared with its definition.

Usage: papers.py GNNC FILE...   A source says its sizes and its graph in a line `// sizes: NAME=VALUE … graph: GRAPH`. Of a page of the manual the schedules
are those of its ```gnn blocks, which have the sizes below, in f32 or else in f16.
A schedule whose condition is `F == 0` is a class of another one's bucket. What is refused, not taken, or not right is listed.
"""
import os
import re
import subprocess
import sys
import tempfile

HEAD = re.compile(r"^schedule ([\w.]+) (\w+)([^{\n]*)\{", re.M)
SIZES = re.compile(r"^// sizes: (.*?)\s+graph: (\S+)$", re.M)
PAGE = "F=64 K=64 Q=64 H=4 D=32 C=8 J=64 B=4", "rmat:6:5,types=4"


def sources(path, folder):
    """Files with schedules, and what each is run with: sizes in turn, a graph."""
    text = open(path, encoding="utf-8").read()
    if not path.endswith(".md"):
        sizes, graph = SIZES.search(text).groups()
        yield path, text, [sizes], graph
        return
    for i, block in enumerate(re.findall(r"^```gnn\n(.*?)^```$", text, re.M | re.S)):
        source = os.path.join(folder, "block%d.gnn" % i)
        open(source, "w", encoding="utf-8").write(block)
        yield source, block, ["T=%s %s" % (t, PAGE[0]) for t in ("f32", "f16")], PAGE[1]


def command(gnnc, path, op, name, conditions, body, sizes, graph):
    saved = ".saved" if re.search(r"\bsave ", body) else ""
    arch = re.search(r"sm_\w+", conditions)
    yield from (gnnc, "run", path, "--op=" + op + saved, "--schedule=" + name, "--graph=" + graph, "--check")
    yield "--target=" + ("host" if "for host" in conditions else "sim")
    yield "-Wno-unused-option"
    yield from (["--arch=" + arch.group()] if arch else [])
    yield from (["--no-deterministic"] if "atomic" in name + body else [])
    yield from ("-D" + s for s in sizes.split())


def body_of(text, at):
    depth, start = 1, at
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[start:at]


def fault(run, name):
    rows = [line.split() for line in re.sub(r"(?s)^.*?verdict\n", "", run.stdout).splitlines()]
    if not run.returncode and rows and all(row[-1] == "right" and name in row for row in rows):
        return None
    return (run.stderr.splitlines() or [run.stdout])[0]


def check(gnnc, path, folder):
    for source, text, all_sizes, graph in sources(path, folder):
        for m in HEAD.finditer(text):
            op, name, conditions = m.groups()
            if "F == 0" in conditions:
                continue
            faults = []
            for sizes in all_sizes:
                line = list(command(gnnc, source, op, name, conditions, body_of(text, m.end()), sizes, graph))
                faults.append(fault(subprocess.run(line, capture_output=True, text=True), name))
                if not faults[-1]:
                    break
            if faults[-1]:
                yield "%s %s: %s" % (op, name, faults[0])


def main():
    with tempfile.TemporaryDirectory() as folder:
        wrong = [line for path in sys.argv[2:] for line in check(sys.argv[1], path, folder)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
