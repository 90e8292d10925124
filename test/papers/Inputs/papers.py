#!/usr/bin/env python3
"""Runs each schedule of files in the simulator, or on the host where it is for that, compared with its definition.

Usage: papers.py GNNC FILE...   A file says its sizes and its graph in a line `// sizes: NAME=VALUE … graph: GRAPH`.
A schedule whose condition is `F == 0` is a class of another one's bucket. What is refused, not taken, or not right is listed.
"""
import re
import subprocess
import sys

HEAD = re.compile(r"^schedule ([\w.]+) (\w+)([^{\n]*)\{", re.M)
SIZES = re.compile(r"^// sizes: (.*?)\s+graph: (\S+)$", re.M)


def command(gnnc, path, op, name, conditions, sizes, graph):
    saved = re.search(r"^schedule %s %s[^{]*\{\s*save " % (re.escape(op), name), open(path, encoding="utf-8").read(), re.M)
    arch = re.search(r"sm_\w+", conditions)
    yield from (gnnc, "run", path, "--op=" + op + (".saved" if saved else ""), "--schedule=" + name, "--graph=" + graph, "--check")
    yield "--target=" + ("host" if "for host" in conditions else "sim")
    yield "-Wno-unused-option"
    yield from (["--arch=" + arch.group()] if arch else [])
    yield from (["--no-deterministic"] if "atomic" in name else [])
    yield from ("-D" + s for s in sizes.split())


def check(gnnc, path):
    text = open(path, encoding="utf-8").read()
    sizes, graph = SIZES.search(text).groups()
    for op, name, conditions in HEAD.findall(text):
        if "F == 0" in conditions:
            continue
        run = subprocess.run(list(command(gnnc, path, op, name, conditions, sizes, graph)), capture_output=True, text=True)
        rows = [line.split() for line in re.sub(r"(?s)^.*?verdict\n", "", run.stdout).splitlines()]
        good = rows and all(row[-1] == "right" and name in row for row in rows)
        if run.returncode or not good:
            yield "%s %s: %s" % (op, name, (run.stderr.splitlines() or [run.stdout])[0])


def main():
    wrong = [line for path in sys.argv[2:] for line in check(sys.argv[1], path)]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
