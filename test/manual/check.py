#!/usr/bin/env python3
"""Checks the examples of a Markdown file. Usage: check.py GNNC FILE.md

A block fenced as ```gnn is a source that `gnnc check` takes without a word; one fenced as ```gnn-error E0403 is refused
with that code and no other.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(gnn(?:-\w+)?)[ \t]*(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.M | re.S)


def check(gnnc, source):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.gnn")
        open(path, "w").write(source)
        done = subprocess.run([gnnc, "check", "--diagnostics-format=json", "--max-errors=0", path],
                              capture_output=True, text=True, timeout=60)
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return done.returncode, found, done.stderr


def fault(gnnc, kind, code, source):
    status, found, text = check(gnnc, source)
    if kind == "gnn":
        return "refused or warned about:\n" + text if status or text else None
    if kind != "gnn-error" or not code:
        return "blocks are marked gnn, or gnn-error and a code"
    if status != 1 or {d["code"] for d in found} != {code}:
        return "%s expected, exit status %d and:\n%s" % (code, status, text)
    return None


def main():
    gnnc, path = sys.argv[1:]
    text = open(path, encoding="utf-8").read()
    blocks, faults = list(FENCE.finditer(text)), 0
    for m in blocks:
        kind, code, source = m.groups()
        wrong = fault(gnnc, kind, code, source)
        if wrong:
            faults += 1
            print("%s:%d: %s" % (path, text.count("\n", 0, m.start()) + 1, wrong))
    if not blocks:
        sys.exit(path + " has no example")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
