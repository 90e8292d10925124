#!/usr/bin/env python3
"""Fails where a file, function, header, struct or cycle of includes is larger than the house has them, or a line longer than
.clang-format says.

Usage: sizes.py ROOT [--table=FILE] [--write]

What is larger today stands in sizes.txt with its size: `rule name ceiling`. It may shrink, and once it keeps the
rule its line goes. Files go by top folder and name, whatever folder below they lie in; long lines are counted by top
folder. --write makes the table anew: look at its diff.
"""
import argparse
import collections
import os
import re
import sys

import ceilings

FILE, FUNCTION, HEADER, STRUCT, CYCLE = 600, 70, 200, 20, 1
PUBLIC = {"gnnrt.h", "gnnrt_io.h", "gnnrt_ffi.h"}   # whose length is what an interface needs
C_LIKE = (".c", ".h", ".def", ".y", ".l")
SOURCES = C_LIKE + (".py", ".sh", ".simt", ".gnn")
SKIPPED = {"Inputs", "corpus", "data", "schedules"}
INCLUDE_DIRS = ["", "ir", "frontend", "runtime"]


def sources(root):
    for place, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in SKIPPED
                            and not os.path.exists(os.path.join(place, f, "CMakeCache.txt")))
        for name in sorted(files):
            if name.endswith(SOURCES):
                yield os.path.join(place, name)


def without_comments(text):
    """The same lines, with comments, strings and characters blank."""
    blank = lambda m: '""' if m.group(0)[0] in "\"'" else re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def functions(text):
    """(name, lines of the body) of each function: from a brace behind a signature, or below it, to the next brace in the first column."""
    name, begin = None, 0
    for number, line in enumerate(text.splitlines()):
        called = re.match(r"[A-Za-z_].*?(\w+)\(", line)
        if begin == 0 and called:
            name = called.group(1)
        if begin == 0 and name and (line == "{" or re.search(r"\)\s*\{\s*$", line)) and not line.startswith("#"):
            begin = number + 1
        elif line.startswith("}"):
            if begin:
                yield name, number - begin
            name, begin = None, 0


def fields(body):
    """How many members a struct's body declares; an inner struct is one, and counted by itself."""
    while re.search(r"\{[^{}]*\}", body):
        body = re.sub(r"\{[^{}]*\}", "", body)
    while re.search(r"\([^()]*\)|\[[^][]*\]", body):
        body = re.sub(r"\([^()]*\)|\[[^][]*\]", "", body)
    body = re.sub(r"(?m)^\s*#.*$", "", body)
    return sum(1 + part.count(",") for part in body.split(";")[:-1] if part.strip())


def structs(text):
    """(name, fields) of each struct and union, inner ones too."""
    open_braces = []
    for m in re.finditer(r"(?<!%)\b(?:struct|union)\s*(\w*)\s*\{|\{|\}\s*(\w*)", text):
        if m.group(0)[0] != "}":
            open_braces.append((m.group(1), m.end()))
        elif open_braces:
            name, begin = open_braces.pop()
            if name is not None:
                yield name or m.group(2) or "unnamed", fields(text[begin:m.start()])


def includes(root, path, text):
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
        for place in [os.path.dirname(path)] + [os.path.join(root, d) for d in INCLUDE_DIRS]:
            target = os.path.normpath(os.path.join(place, name))
            if os.path.exists(target):
                yield target
                break


def column_limit(root):
    with open(os.path.join(root, ".clang-format"), encoding="utf-8") as f:
        return int(re.search(r"^ColumnLimit: (\d+)", f.read(), re.M).group(1))


def measure(root):
    """The sizes above their limits by (rule, name), and the limits by rule."""
    sizes, long, graph, columns = collections.Counter(), collections.Counter(), {}, column_limit(root)
    for path in sources(root):
        top, name = os.path.relpath(path, root).split(os.sep)[0], os.path.basename(path)
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        lines = text.splitlines()
        rule = "header" if name.endswith(".h") else "file"
        if name not in PUBLIC:
            key = rule, top + "/" + name
            sizes[key] = max(sizes[key], len(lines))
        if not name.endswith(C_LIKE):
            continue
        long["columns", top] += sum(len(line) > columns for line in lines)
        bare = without_comments(text)
        for function, size in functions(bare):
            sizes["function", function] = max(sizes["function", function], size)
        for struct, size in structs(bare):
            sizes["struct", struct] = max(sizes["struct", struct], size)
        graph[os.path.relpath(path, root)] = {os.path.relpath(p, root) for p in includes(root, path, text)}
    for ring in ceilings.rings(graph):
        key = "cycle", ring[0].split(os.sep)[0]
        sizes[key] = max(sizes[key], len(ring))
    limits = {"file": FILE, "function": FUNCTION, "header": HEADER, "struct": STRUCT, "cycle": CYCLE, "columns": 0}
    return {key: size for key, size in (sizes + long).items() if size > limits[key[0]]}, limits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("--table", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "sizes.txt"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    found, limits = measure(options.root)
    if options.write:
        ceilings.write(options.table, limits, found)
        return 0
    faults = list(ceilings.compare(options.table, limits, found))
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
