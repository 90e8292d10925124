#!/usr/bin/env python3
"""Fails where a source asks for a GPU's compute capability, or its name, in place of one of its features (ir/targets.def).
Usage: features.py ROOT"""
import os
import re
import sys

FOLDERS = ["ir", "autodiff", "testing", "frontend", "passes", "codegen", "driver"]
VALUE = r"(?:\d+\b|[A-Z][A-Z0-9_]+\b)"   # a number, or a constant's name
ASKS = re.compile(r"\bsm\s*(?:[<>]=?|[=!]=)\s*%s|(?<![/*] )\b%s\s*(?:[<>]=?|[=!]=)\s*(?:\w+(?:->|\.))*sm\b|str\w*cmp\([^;\n]*\"sm_\d"
                  % (VALUE, VALUE))


def sources(root):
    for folder in FOLDERS:
        for place, _, files in os.walk(os.path.join(root, folder)):
            yield from sorted(os.path.join(place, f) for f in files if f.endswith((".c", ".h")))


def faults(root):
    for path in sources(root):
        for number, line in enumerate(open(path, errors="replace"), 1):
            if ASKS.search(line.split("//")[0]):
                yield "%s:%d: ask gpu_has for a feature of ir/targets.def" % (os.path.relpath(path, root), number)


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
