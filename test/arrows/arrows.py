#!/usr/bin/env python3
"""Fails on an include that goes against the arrows of the architecture, or takes another folder's internal header.
Usage: arrows.py ROOT"""
import os
import re
import sys

MAY_USE = {
    "ir": {"ir"},
    "autodiff": {"autodiff", "ir"},
    "testing": {"testing", "ir"},
    "tuning": {"tuning", "ir"},
    "frontend": {"frontend", "autodiff", "ir"},
    "lang": {"frontend", "ir"},
    "passes": {"passes", "ir"},
    "codegen": {"codegen", "ir"},
    "cost": {"cost", "codegen", "ir"},
    "runtime": {"runtime"},
    "driver": {"driver", "frontend", "autodiff", "ir", "passes", "codegen", "cost", "testing", "tuning", "runtime"},
}
# Rooms of passes/, and rooms in them, bottom first: those that each may use beside itself. What stands in none of them may use all.
ROOMS = {
    "base": set(),
    "facts": set(),
    "naive": {"base"},
    "kernels": {"base"},
    "tensor": {"base", "kernels"},
    "axes": {"base", "kernels", "tensor"},
    "finish": {"base", "kernels", "tensor", "axes"},
    "nests": {"base", "kernels", "tensor", "axes", "finish"},
    "loop": {"base", "kernels", "tensor", "axes"},
    "lower": {"base", "lower/scope", "lower/values", "lower/copies", "lower/matrix", "lower/sums", "lower/loops"},
    "lower/scope": {"base"},
    "lower/values": {"base", "lower/scope"},
    "lower/copies": {"lower/scope", "lower/values"},
    "lower/matrix": {"lower/scope", "lower/values", "lower/copies"},
    "lower/sums": {"base", "lower/scope", "lower/values", "lower/copies", "lower/matrix"},
    "lower/loops": {"lower/scope", "lower/values", "lower/copies", "lower/matrix", "lower/sums"},
    "default": {"base", "kernels", "tensor", "loop", "default/ask", "default/cells", "default/matrix", "default/stages", "default/rows",
                "default/walks"},
    "default/ask": {"base", "kernels", "tensor", "loop"},
    "default/cells": {"base", "kernels", "axes", "default/ask"},
    "default/matrix": {"base", "kernels", "default/ask", "default/cells"},
    "default/stages": {"base", "kernels", "axes", "default/ask", "default/cells", "default/matrix"},
    "default/rows": {"base", "kernels", "default/ask", "default/cells", "default/stages"},
    "default/walks": {"base", "kernels", "tensor", "default/ask", "default/cells", "default/matrix", "default/stages", "default/rows"},
}
# Headers that other folders may use; where a folder stands here not, those that end in internal.h are its own.
INTERFACES = {
    "frontend": {"frontend.h", "ast.h", "parse.h"},
    "passes": {"passes.h", "facts.h"},
    "codegen": {"codegen.h", "sim.h"},
    "runtime": {"gnnrt.h", "gnnrt_io.h", "gnnrt_ffi.h"},
}
PUBLIC = {"passes.h", "plan.h"}   # headers of passes/ that stand in no room, and that each room may use
INCLUDE_DIRS = ["", "ir", "frontend", "runtime", "passes"]
ONLY_IN = {"llvm-c/": {"codegen"}, "zip.h": {"runtime"}, "sodium.h": {"driver"}}   # libraries that stay in their folder
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def resolve(root, source, name):
    """The path of the file that is included, or None for one that is generated."""
    for place in [os.path.dirname(source)] + [os.path.join(root, d) for d in INCLUDE_DIRS]:
        path = os.path.normpath(os.path.join(place, name))
        if os.path.exists(path):
            return os.path.relpath(path, root)
    return None


def is_internal(folder, header):
    if folder in INTERFACES and header.endswith(".h"):
        return header not in INTERFACES[folder]
    return header.endswith("internal.h")


def room(path):
    """Of passes/, the innermost that the table has; None: the file stands in none."""
    parts = path.split(os.sep)
    inner = "/".join(parts[1:3])
    return None if parts[0] != "passes" or len(parts) < 3 else inner if inner in ROOMS else parts[1]


def against_rooms(source, target):
    """Why a file of a room may not include the target; None: it may."""
    here, there = room(source), room(target)
    if not here or not target.startswith("passes" + os.sep) or here == there:
        return None
    if there is None:
        return None if os.path.basename(target) in PUBLIC else "passes/%s/ may use %s of passes/ alone" % (here, " and ".join(sorted(PUBLIC)))
    return None if there in ROOMS.get(here, set()) else "passes/%s/ may not use passes/%s/" % (here, there)


def faults(root):
    for folder in MAY_USE:
        for place, _, files in os.walk(os.path.join(root, folder)):
            for name in sorted(files):
                if not name.endswith((".c", ".h", ".def", ".y", ".l")):
                    continue
                path = os.path.join(place, name)
                for kind, included in INCLUDE.findall(open(path, errors="replace").read()):
                    file = resolve(root, path, included) if kind == '"' else None
                    target = file and file.split(os.sep)[0]
                    shown = "%s includes %s" % (os.path.relpath(path, root), included)
                    if target and target not in MAY_USE[folder]:
                        yield "%s: %s/ may not use %s/" % (shown, folder, target)
                    elif target and target != folder and is_internal(target, os.path.basename(included)):
                        yield "%s: only for %s/" % (shown, target)
                    why = file and against_rooms(os.path.relpath(path, root), file)
                    if why:
                        yield "%s: %s" % (shown, why)
                    for prefix, places in ONLY_IN.items():
                        if included.startswith(prefix) and folder not in places:
                            yield "%s: only for %s/" % (shown, "/, ".join(sorted(places)))


if __name__ == "__main__":
    found = list(faults(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
