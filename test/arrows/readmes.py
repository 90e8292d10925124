#!/usr/bin/env python3
"""Fails on a source file of passes/ that no README of its room names, and on a name without a file. A room in a room may have a README.
Usage: readmes.py ROOT"""
import os
import re
import sys


def faults(root):
    passes = os.path.join(root, "passes")
    for room in sorted(r for r in os.listdir(passes) if os.path.isdir(os.path.join(passes, r))):
        top = os.path.join(passes, room)
        there = {os.path.relpath(os.path.join(d, f), top) for d, _, files in os.walk(top) for f in files}
        named = set()
        for readme in (f for f in there if os.path.basename(f) == "README.md"):
            with open(os.path.join(top, readme), encoding="utf-8") as f:
                names = re.findall(r"^\| `([\w/]+\.[ch])`", f.read(), re.M)
            named |= {os.path.normpath(os.path.join(os.path.dirname(readme), name)) for name in names}
        for name in sorted(f for f in there if f.endswith(".c") and f not in named):
            yield "passes/%s/README.md does not name %s" % (room, name)
        for name in sorted(named - there):
            yield "passes/%s/README.md names %s, which is not there" % (room, name)


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
