#!/usr/bin/env python3
"""Fails on an include that goes against the arrows of the architecture. Usage: arrows.py ROOT"""
import os
import re
import sys

MAY_USE = {
    "ir": {"ir"},
    "frontend": {"frontend", "ir"},
    "lang": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "codegen": {"codegen", "ir"},
    "runtime": {"runtime"},
    "driver": {"driver", "frontend", "ir", "passes", "codegen", "runtime"},
}
INCLUDE_DIRS = ["", "ir", "frontend", "runtime", "passes"]
ONLY_IN = {"llvm-c/": {"codegen"}, "zip.h": {"runtime"}}   # libraries that stay in their folder
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def resolve(root, source, name):
    """The folder of the file that is included, or None for one that is generated."""
    for place in [os.path.dirname(source)] + [os.path.join(root, d) for d in INCLUDE_DIRS]:
        path = os.path.normpath(os.path.join(place, name))
        if os.path.exists(path):
            return os.path.relpath(path, root).split(os.sep)[0]
    return None


def faults(root):
    for folder in MAY_USE:
        for place, _, files in os.walk(os.path.join(root, folder)):
            for name in sorted(files):
                if not name.endswith((".c", ".h", ".def", ".y", ".l")):
                    continue
                path = os.path.join(place, name)
                for kind, included in INCLUDE.findall(open(path, errors="replace").read()):
                    target = resolve(root, path, included) if kind == '"' else None
                    shown = "%s includes %s" % (os.path.relpath(path, root), included)
                    if target and target not in MAY_USE[folder]:
                        yield "%s: %s/ may not use %s/" % (shown, folder, target)
                    for prefix, places in ONLY_IN.items():
                        if included.startswith(prefix) and folder not in places:
                            yield "%s: only for %s/" % (shown, "/, ".join(sorted(places)))


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
