#!/usr/bin/env python3
"""Fails where adding a row to a table has come to touch more source files than CONTRIBUTING.md promises.

Usage: places.py ROOT [--list]

A file counts where code names the row: the table itself, and each source that makes it what it is. Of operations that everything uses,
rows count that nothing else names. --list prints every count.
"""
import argparse
import os
import re
import sys

# Of passes/, those that make loop IR and lower it: a default that says a statement has a file of its own in passes/default.
MAKERS = ["passes/" + room for room in ["base", "tensor", "kernels", "axes", "nests", "finish", "loop", "lower"]]

# By what is added: the table, what a row looks like, how code names it, the folders, the most files, the rows that count (None: all),
# and those that more name, as they are used by name. ALSO: files that a row has besides.
ALSO = {"statement that leaves a field in loop IR": ["ir/schedule.def"]}
KINDS = {
    "operation of SIMT IR": ("ir/simt.def", r"^SIMT_OP\((\w+)", r"\bSIMT_%s\b", ["ir", "codegen"], 4, ["COPYSIGN", "CLZ"], []),
    "operation of tensor IR": ("ir/tensor.def", r"^TENSOR_OP\((\w+)", r"\bTENSOR_%s_OP\b", ["ir", "autodiff", "frontend", "passes"], 4,
                               ["FLOOR", "CEIL"], []),
    "maths function": ("ir/math.def", r"^MATH\((\w+)", r"\bTENSOR_%s_OP\b", ["ir", "autodiff", "frontend", "passes"], 4, None,
                       ["EXP", "LOG"]),
    "matrix operation": ("ir/mma.def", r"^MMA\((\w+)", r"\bSIMT_MMA_%s\b", ["ir", "codegen", "passes", "driver", "frontend"], 1, None, []),
    "graph format": ("runtime/gnnrt_io.h", r"\bX\((\w+), \"\w+\", \w+\)", r"\bGNN_GRAPH_%s\b", ["runtime", "driver"], 2, None, ["AUTO"]),
    "statement that leaves a field in loop IR": ("ir/loop_field.def", r'^LOOP_\w*FIELD\([^"]*?(\w+), "', r"(?:->|\.)%s\b", ["ir"] + MAKERS, 5,
                                                 ["accumulators", "approximate", "reread"], []),
    "architecture": ("ir/targets.def", r'^ARCH\("(\w+)"', r'"%s"', ["ir", "codegen", "passes", "frontend"], 1, None, ["sm_90"]),
}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def sources(root, folder):
    for place, folders, files in os.walk(os.path.join(root, folder)):
        folders.sort()
        for name in sorted(files):
            if name.endswith((".c", ".h", ".def")):
                path = os.path.join(place, name)
                with open(path, encoding="utf-8") as f:
                    yield os.path.relpath(path, root), without_comments(f.read())


def counts(root):
    """(kind, row, the files that name it, its table first)."""
    texts = {}
    for kind in KINDS.values():
        for folder in kind[3]:
            if folder not in texts:
                texts[folder] = dict(sources(root, folder))
    for kind, (table, row, name, folders, _, some, _) in KINDS.items():
        rows = re.findall(row, texts[table.split("/")[0]].get(table, ""), re.M)
        if not rows or not set(some or []) <= set(rows):
            sys.exit("%s: no %s, or not %s" % (table, kind, some))
        for found in some or rows:
            asks = re.compile(name % found)
            files = [path for folder in folders for path, text in texts[folder].items() if path != table and asks.search(text)]
            yield kind, found, [table] + ALSO.get(kind, []) + files


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    faults = 0
    for kind, row, files in counts(options.root):
        *_, most, _, used = KINDS[kind]
        fault = len(files) > most and row not in used
        if fault or options.list:
            print("%s: %s %d, at most %d: %s" % (kind, row, len(files), most, " ".join(files)))
        faults += fault
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
