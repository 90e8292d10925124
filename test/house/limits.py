#!/usr/bin/env python3
"""Fails where a number of the default schedule stands elsewhere than in passes/default/ask/limits.def, or a row of it says too little.

Usage: limits.py ROOT

An enum of passes/default may name kinds of things, but no number. Each row of limits.def has a unit, a source and a sentence, and is used."""
import glob
import os
import re
import sys

ENUM = re.compile(r"\benum\b[^;{]*\{(.*?)\}", re.S)
ROW = re.compile(r'^LIMIT\((\w+), ([^"]+), "([^"]+)",\s+(MEASURED\("\d{4}-\d\d-\d\d[^"]*"\)|HARDWARE|REASONED),\s+((?:"[^"]*"\s*)+)\)$', re.M)


def main():
    room = os.path.join(sys.argv[1], "passes", "default")
    with open(os.path.join(room, "ask", "limits.def"), encoding="utf-8") as f:
        table = f.read()
    rows, faults, code = ROW.findall(table), [], ""
    if len(rows) != len(re.findall(r"^LIMIT\(", table, re.M)):
        good = {r[0] for r in rows}
        faults += ["limits.def: %s has no unit, source and sentence" % n for n in re.findall(r"^LIMIT\((\w+)", table, re.M) if n not in good]
    for path in sorted(glob.glob(room + "/**/*.[ch]", recursive=True) + [room + "/ask/row_kinds.def"]):
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"//[^\n]*", "", f.read())
        code += text
        for body in ENUM.findall(text):
            faults += ["%s: %s belongs to limits.def" % (os.path.relpath(path, room), name)
                       for name in re.findall(r"(\w+)\s*=\s*\(?\d+(?![^,]*<<\s*\w*[A-Z])", body) if "1 << " not in body and name not in KINDS]
    faults += ["limits.def: nothing uses %s" % r[0] for r in rows if not re.search(r"\bDEFAULT_%s\b" % r[0], code)]
    print("\n".join(faults) if faults else "%d limits" % len(rows))
    return bool(faults)


KINDS = {"NOT"}   # an enumerator that begins at 1


sys.exit(main())
