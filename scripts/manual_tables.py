#!/usr/bin/env python3
"""Keeps the tables of lang/manual.md that other files say: reserved words, functions of numbers, diagnostics.

    scripts/manual_tables.py            rewrites them
    scripts/manual_tables.py --check    exit status 1 if that would change anything
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def read(path):
    return open(os.path.join(ROOT, path), encoding="utf-8").read()


def words():
    found = re.findall(r'^"([a-z]+)"\s+WORD\(', read("lang/gnn.l"), re.M)
    return "Reserved: %s.\n" % " ".join("`%s`" % w for w in found)


def maths():
    rows = re.findall(r"^MATH\(\w+,\s*(\w+),\s*(\d),\s*\w+,\s*([\d.]+),\s*([\d.]+), *\d+, *\d+\)", read("ir/math.def"), re.M)
    lines = ["| function | error in f32 | in f64 |", "|---|---|---|"]
    for name, args, f32, f64 in rows:
        lines.append("| `%s(%s)` | %s | %s |" % (name, "x" if args == "1" else "x, y", f32, f64))
    return "\n".join(lines) + "\n"


def diagnostics():
    text = re.sub(r"^//.*$", "", read("ir/support/diag.def"), flags=re.M)
    rows = re.findall(r'DIAG\((\w+),\s*SEV_\w+,\s*"([\w-]+)",\s*"((?:[^"\\]|\\.)*)"\)', text)
    if len(rows) != len(re.findall(r"^DIAG\(", text, re.M)):
        sys.exit("ir/support/diag.def holds a row this script does not understand")
    lines = ["| code | name | what |", "|---|---|---|"]
    for code, name, summary in sorted(rows, key=lambda r: (r[0][1:], r[0])):
        lines.append("| %s | %s | %s |" % (code, name, summary.replace('\\"', '"').replace("|", "\\|")))
    return "\n".join(lines) + "\n"


def main():
    path = os.path.join(ROOT, "lang/manual.md")
    old = new = open(path, encoding="utf-8").read()
    for name, table in (("words", words), ("maths", maths), ("diagnostics", diagnostics)):
        pattern = r"(<!-- %s: [^\n]*-->\n).*?(<!-- end -->)" % name
        if len(re.findall(pattern, new, re.S)) != 1:
            sys.exit("lang/manual.md has no place for " + name)
        new = re.sub(pattern, lambda m: m.group(1) + table() + m.group(2), new, flags=re.S)
    if "--check" not in sys.argv[1:]:
        open(path, "w", encoding="utf-8").write(new)
    elif new != old:
        sys.exit("lang/manual.md is behind the tables it repeats: run scripts/manual_tables.py")


if __name__ == "__main__":
    main()
