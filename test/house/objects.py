#!/usr/bin/env python3
"""Fails where sources call each other in a larger ring than the house has them, or where one exports what nothing else uses.

Usage: objects.py ROOT BUILD [--table=FILE] [--write] [--list]

It reads the objects of BUILD's libraries and programs with nm. What breaks the rule today stands in objects.txt: rings by
top folder with their size, exports with 1. Public headers, tests and bench/ use what they name: --list prints what they
alone use, and every ring.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

import ceilings

RING = 12
PUBLIC = ["runtime/gnnrt.h", "runtime/gnnrt_io.h", "runtime/gnnrt_ffi.h"]
OTHER_USERS = ["test", "bench", "examples"]
GENERATED = {"gnn_lexer.c", "gnn_parser.c"}   # Flex and Bison export what they like
TARGETS = re.compile(r"(gnnc_\w+|gnnrt\w*_code|gnnc|ptx_text)\.dir/(.*\.c)\.o$")


def objects(root, build):
    """Sources by their objects, but for those left over from sources that are gone."""
    found, top = {}, os.path.join(build, "CMakeFiles")
    for place, _, files in os.walk(top):
        for name in files:
            path = os.path.join(place, name)
            m = TARGETS.match(os.path.relpath(path, top))
            if m and any(os.path.exists(os.path.join(where, m.group(2))) for where in (root, build)):
                found[path] = m.group(2)
    return found


def symbols(root, build):
    """What sources define for others, name to source, and what each refers to."""
    sources, defines, refers = objects(root, build), {}, collections.defaultdict(set)
    shown = subprocess.run(["nm", "-A", "-P", "-g"] + sorted(sources), capture_output=True, text=True, check=True).stdout
    for line in shown.splitlines():
        path, name, kind = line.split()[:3]
        source = sources[path[:-1]]
        if kind in "Uw":
            refers[source].add(name)
        elif not name.startswith("__"):   # a sanitizer's
            defines[name] = source
    return defines, refers


def words_of(root, paths):
    text = []
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
            text.append(f.read())
    return set(re.findall(r"\w+", "\n".join(text)))


def other_users(root):
    for top in OTHER_USERS:
        for place, _, files in os.walk(os.path.join(root, top)):
            yield from (os.path.join(place, f) for f in files if f.endswith((".c", ".h")))


def unused(root, defines, refers):
    """(name, source, whether a test or so names it) of what no other object refers to."""
    used, public, others = set().union(*refers.values()), words_of(root, PUBLIC), words_of(root, other_users(root))
    for name, source in sorted(defines.items(), key=lambda row: row[::-1]):
        if name != "main" and name not in used | public and source not in GENERATED:
            yield name, source, name in others


def rings(defines, refers):
    graph = {source: {defines[n] for n in names if n in defines} - {source} for source, names in refers.items()}
    return sorted(ceilings.rings(graph), key=len)


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("build")
    parser.add_argument("--table", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "objects.txt"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def measure(options):
    """What breaks a rule, by (rule, name)."""
    defines, refers = symbols(options.root, options.build)
    found = {}
    for ring in rings(defines, refers):
        if options.list:
            print("ring of %d: %s" % (len(ring), " ".join(ring)))
        if len(ring) > RING:
            found["ring", ring[0].split("/")[0]] = len(ring)
    for name, source, by_others in unused(options.root, defines, refers):
        if not by_others:
            found["unused", source.split("/")[0] + "/" + name] = 1
        elif options.list:
            print("only tests and the like use %s of %s" % (name, source))
    return found


def main():
    options = read_options()
    limits, found = {"ring": RING, "unused": 0}, measure(options)
    if options.write:
        ceilings.write(options.table, limits, found)
        return 0
    faults = list(ceilings.compare(options.table, limits, found))
    print("\n".join(faults))
    if any(": unused" in fault for fault in faults):
        print("What is unused is exported, but no other source refers to it: make it static.")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
