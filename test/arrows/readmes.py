#!/usr/bin/env python3
"""Fails on a source file of passes/ that the README of its room does not name, and on a name without a file. Usage: readmes.py ROOT"""
import os
import re
import sys


def faults(root):
    passes = os.path.join(root, "passes")
    for room in sorted(r for r in os.listdir(passes) if os.path.isdir(os.path.join(passes, r))):
        path = os.path.join(passes, room, "README.md")
        named = set(re.findall(r"^\| `([\w/]+\.[ch])`", open(path, encoding="utf-8").read(), re.M)) if os.path.exists(path) else set()
        there = {os.path.relpath(os.path.join(d, f), os.path.join(passes, room)) for d, _, files in os.walk(os.path.join(passes, room)) for f in files}
        for name in sorted(f for f in there if f.endswith(".c") and f not in named):
            yield "passes/%s/README.md does not name %s" % (room, name)
        for name in sorted(named - there):
            yield "passes/%s/README.md names %s, which is not there" % (room, name)


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
