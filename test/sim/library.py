#!/usr/bin/env python3
"""Runs the ops of the library in the simulator.

  library.py GNNC bits GRAPHS [OPTION …]    the naive plans, there and on the host: every byte of their results is the same
  library.py GNNC plans GRAPHS [OPTION …]   every version of every op: right by the definition, and no report

GRAPHS are names of GRAPHS below, as in rows,long. Further options go to gnnc run.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "stdlib")
FLOATS = {"<f2": "e", "<f4": "f", "<f8": "d"}
GRAPHS = {"rows": "er:20:60", "long": "star:40", "empty": "empty:3"}
SIZES = ["-D", "S=3", "-D", "F=6"]


def run(gnnc, path, graphs, *options):
    command = [gnnc, "run", path, *["--graph=" + g for g in graphs], "--max-errors=0", *SIZES, *options]
    return subprocess.run(command, capture_output=True, text=True)


def reports(name, graph, done):
    """What is told beside preconditions that a graph does not meet."""
    told = set(re.findall(r"error\[(E\d+)\]", done.stderr))
    silent = done.returncode not in (0, 1) and not told
    return ["%s %s: exit %d\n%s" % (name, graph, done.returncode, done.stderr.strip()[:2000])] if told - {"E0820"} or silent else []


def values(path):
    data = open(path, "rb").read()
    length = struct.unpack("<H", data[8:10])[0]
    kind = re.search(rb"'descr': '([^']*)'", data[10:10 + length]).group(1).decode()
    body = data[10 + length:]
    if kind not in FLOATS:
        return [body]
    size = int(kind[2])
    floats = struct.unpack("<%d%s" % (len(body) // size, FLOATS[kind]), body)
    return ["nan" if x != x else body[i * size:(i + 1) * size] for i, x in enumerate(floats)]


def same_bits(gnnc, name, graph, options):
    """How many results were compared, and what is wrong."""
    path = os.path.join(LIBRARY, name)
    with tempfile.TemporaryDirectory() as folder:
        out = {t: os.path.join(folder, t) for t in ("sim", "host")}
        done = {t: run(gnnc, path, [graph], "--no-schedule", "--check", "--target=" + t, "--out=" + out[t], *options) for t in out}
        faults = reports(name, graph, done["sim"])
        names = {t: sorted(os.listdir(out[t])) if os.path.exists(out[t]) else [] for t in out}
        if names["sim"] != names["host"] or done["sim"].returncode != done["host"].returncode:
            return 0, faults + ["%s %s: other results, or another exit status, than on the host" % (name, graph)]
        faults += ["%s %s: %s differs from the host's" % (name, graph, x) for x in names["sim"]
                   if values(os.path.join(out["sim"], x)) != values(os.path.join(out["host"], x))]
        return len(names["sim"]), faults


def all_graphs_same_bits(gnnc, name, graphs, options):
    each = [same_bits(gnnc, name, graph, options) for graph in graphs]
    return sum(n for n, _ in each), [f for _, faults in each for f in faults]


def all_plans(gnnc, name, graphs, options):
    done = run(gnnc, os.path.join(LIBRARY, name), graphs, "--all-plans", "--check", "--target=sim", *options)
    return len(re.findall(r" right$", done.stdout, re.M)), reports(name, " ".join(graphs), done)


def main():
    gnnc, check = sys.argv[1], {"bits": all_graphs_same_bits, "plans": all_plans}[sys.argv[2]]
    graphs, options = [GRAPHS[g] for g in sys.argv[3].split(",")], sys.argv[4:]
    good, faults = 0, []
    for name in sorted(os.listdir(LIBRARY)):
        if name.endswith(".gnn") and name != "prelude.gnn":
            n, wrong = check(gnnc, name, graphs, options)
            good += n
            faults += wrong
    print("\n".join(faults + ["%d good, %d faults" % (good, len(faults))]))
    return 1 if faults or good < 100 * len(graphs) else 0


if __name__ == "__main__":
    sys.exit(main())
