#!/usr/bin/env python3
"""Makes a tree that breaks each rule of sizes.py, and keeps each where it is next to breaking it. Usage: bad_tree.py FOLDER"""
import os
import sys

FUNCTION = "int %s(void)\n{\n%s}\n"
STRUCT = "struct %s {\n    %s\n    struct { int x, y; } in;\n};\n"
FILES = {
    ".clang-format": "ColumnLimit: 100\n",
    "ir/long.c": "\n" * 601,
    "ir/full.c": "\n" * 600,
    "ir/deep/tall.h": "\n" * 201,
    "ir/gnnrt.h": "\n" * 201,
    "ir/wide.c": "//" + "-" * 98 + "\n//" + "-" * 99 + "\n",
    "ir/functions.c": FUNCTION % ("too_long", "    ;\n" * 71) + FUNCTION % ("long_enough", "    ; // }\n" * 70),
    "ir/structs.c": STRUCT % ("full", "int " + ", ".join("abcdefghijklmnopqrs") + ";")
    + STRUCT % ("fat", "int a;\n" * 18 + "    int (*f)(int x, int y), b;"),
    "ir/Inputs/skipped.c": "\n" * 601,
}
for name, target in zip("abcd", "bcaa"):
    FILES["passes/%s.h" % name] = '#include "%s.h"\n' % target

for path, text in FILES.items():
    path = os.path.join(sys.argv[1], path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
