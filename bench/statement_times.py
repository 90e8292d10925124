#!/usr/bin/env python3
"""Times the example schedules of lang/statements.md, each section's beside each other, on one graph: what a statement does to the loops that its
section shows. Prints a table; a schedule that the target refuses, or that has no result, has a dash.
Usage: statements.py [--gnnc=GNNC] [--graph=GRAPH] [--target=cuda|host] [-D SIZE …] [STATEMENT …]"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "test", "manual"))
from statements import SECTION, SOURCE, LOOPS   # noqa: E402: what a section is


def examples(text):
    """The section's source, and its schedules in the order they are shown: (op, name)."""
    source = SOURCE.search(text).group(1)
    op = re.search(r"^schedule (\w+)", source, re.M).group(1)
    shown = []
    for other, name, _ in LOOPS.findall(text):
        if (other or op, name) not in shown:
            shown.append((other or op, name))
    return source, shown


def median_us(o, path, op, name):
    command = [o.gnnc, "bench", path, "-I", os.path.join(ROOT, "stdlib"), "--graph=" + o.graph, "--op=" + op, "--schedule=" + name, "--plan=" + name,
               "--target=" + o.target, "--flush", "--seconds=1", "--repeat=%d" % o.repeat, "--check-budget=300000", "--json", "-Wno-unused-option"]
    done = subprocess.run(command + [x for d in o.define for x in ("-D", d)], capture_output=True, text=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    right = [row for row in rows if row.get("verdict") == "right"]
    return 1e3 * right[0]["median_ms"] if right else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--graph", default="rmat:12:8")
    p.add_argument("--target", default="cuda")
    p.add_argument("--repeat", type=int, default=20)
    p.add_argument("-D", dest="define", action="append", default=[])
    p.add_argument("only", nargs="*")
    o = p.parse_args()
    o.define = o.define or ["F=64", "K=64", "Q=64"]
    print("| statement | µs, of the schedules its section shows |\n|---|---|")
    for verb, text in SECTION.findall(open(os.path.join(ROOT, "lang", "statements.md"), encoding="utf-8").read()):
        if o.only and verb not in o.only:
            continue
        source, shown = examples(text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "example.gnn")
            open(path, "w").write(source)
            times = [(name, median_us(o, path, op, name)) for op, name in shown]
        print("| `%s` | %s |" % (verb, ", ".join("%s %s" % (name, "–" if t is None else "%.1f" % t) for name, t in times)), flush=True)


if __name__ == "__main__":
    main()
