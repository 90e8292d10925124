#!/usr/bin/env python3
"""Times the ops of the gallery and their gradients, by gnnc's default schedule and by PyTorch, eager and compiled, on six graphs.

    gallery.py --out=gallery.jsonl                               # needs PyTorch and a GPU
    gallery.py --only=ours --target=host --scale=100             # needs NumPy alone
    gallery.py --check                                           # each op and its gradient are right on small graphs; NumPy alone
    gallery.py --compare                                         # and say what the formula says, in f64; needs PyTorch
    gallery.py --estimate --out=estimate.jsonl                   # kernels and bytes of the plans on an H200, without one; NumPy alone
    gallery.py --table --out=gallery.jsonl                       # the table alone
    random_ops.py FOLDER; gallery.py --folder=FOLDER             # ops put together at random

A line of JSON a case goes to --out; what has one is not run again. `both` of gnnc is its op and its gradient, which computes again
what it needs; `both` of PyTorch is the forward pass and torch.autograd.grad. Times are medians with the L2 cache overwritten
before each launch; compiling, and what is prepared once a graph, count on neither side."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import inputs  # noqa: E402
import ours  # noqa: E402
import table  # noqa: E402

SMALL = dict(typed=4000, molecules=4000, star=4000)   # graphs that are quickly evaluated


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gnnc", default=os.path.join(os.path.dirname(os.path.dirname(HERE)), "build", "bin", "gnnc"))
    p.add_argument("--target", default="cuda")
    p.add_argument("--arch", default="native")
    p.add_argument("--device", default="h200", help="of --estimate")
    p.add_argument("--only", choices=("ours", "peers", "both"), default="both")
    p.add_argument("--peers", default="eager,compile")
    p.add_argument("--folder", default="", help="of the ops (default: the gallery)")
    p.add_argument("--ops", default="", help="names, or parts of them after *: gat*,*norm (default: all)")
    p.add_argument("--part", default="", help="I/N: each N-th op, from the I-th")
    p.add_argument("--graphs", default=",".join(inputs.GRAPHS))
    p.add_argument("--dtype", default="f32")
    p.add_argument("--scale", type=lambda s: float(s) if "." in s else int(s), default=1, help="graphs are so many times smaller; 0.5: larger")
    p.add_argument("--seconds", type=float, default=0.2, help="of launches an op")
    p.add_argument("--limit", type=float, default=120, help="seconds that a case may take, on either side")
    p.add_argument("--memory", type=float, default=0, help="GiB of the device that PyTorch may take (0: all)")
    p.add_argument("--budget", type=int, default=3_000_000, help="of gnnc's check of a sample of results")
    p.add_argument("--bandwidth", type=float, default=0, help="of the memory, GB/s (0: gnnc measures it, each time)")
    p.add_argument("--jobs", type=int, default=1, help="processes of gnnc at a time, one of which launches")
    p.add_argument("--warm", type=int, default=0, help="processes that compile for PyTorch first, at a time")
    p.add_argument("--again", action="store_true", help="run what failed again")
    p.add_argument("--out", default="gallery.jsonl")
    for mode, what in (("check", "right on small graphs?"), ("compare", "formulas agree?"), ("estimate", "what plans move"), ("table", "print the table of --out")):
        p.add_argument("--" + mode, action="store_true", help=what)
    o = p.parse_args()
    if o.folder:
        inputs.FOLDER = os.environ["GALLERY"] = os.path.abspath(o.folder)
    return o


def chosen(o):
    from fnmatch import fnmatch
    wanted = [w for w in o.ops.split(",") if w]
    names = inputs.names()
    for w in wanted:
        if not any(fnmatch(n, w) for n in names):
            sys.exit("no op is called %s" % w)
    names = [n for n in names if not wanted or any(fnmatch(n, w) for w in wanted)]
    if o.part:
        first, of = map(int, o.part.split("/"))
        names = names[first::of]
    return names


# ---- Whether ops are right --------------------------------------------------------------------------------------


def checked(o, name, graph):
    """gnnc's results against its evaluator, of the op and its gradient."""
    case = inputs.Case(name, graph)
    with tempfile.TemporaryDirectory() as folder:
        out, fault, _ = ours.call(o, "run", case, [name, name + ".grad"], case.save_all(folder, "f32"), "-DT=f32", "--check")
    rows = [line for line in out.splitlines() if line.startswith(name)]
    if fault or len(rows) != 2:
        return [fault or "no results"]
    for row in rows:
        if " naive " in row:
            print("%s on %s: by the naive plan" % (row.split()[0], graph.name))
    return [row for row in rows if not row.endswith("right")]


def judged(o, judge):
    """Prints what is wrong; the exit status."""
    bad, names = 0, chosen(o)
    made = {}
    for name in names:
        for which in o.graphs.split(","):
            if which not in SMALL or not inputs.suits(name, which):
                continue
            graph = made.setdefault(which, inputs.Graph(which, SMALL[which]))
            try:
                faults = judge(o, name, graph)
            except Exception as fault:
                faults = ["%s: %s" % (type(fault).__name__, fault)]
            bad += len(faults)
            for fault in faults:
                print("%s on %s: %s" % (name, which, fault), flush=True)
    print("%d ops, %d faults" % (len(names), bad))
    return 1 if bad else 0


# ---- What is still to be run ------------------------------------------------------------------------------------


class Record:
    """The lines of --out: what is there, and more."""

    def __init__(self, o):
        self.path, self.lock = o.out, threading.Lock()
        self.there = set()
        for (dtype, scale), cases in table.load(o.out).items():
            for (op, graph), rows in cases.items():
                self.there |= {(who, op, graph, dtype, scale) for who, row in rows.items() if not (o.again and "fault" in row)}

    def lacks(self, who, op, graph, dtype, scale):
        return (who, op, graph, dtype, scale) not in self.there

    def add(self, **row):
        with self.lock, open(self.path, "a") as f:
            f.write(json.dumps(row) + "\n")


def tasks(o):
    found = []
    for graph in o.graphs.split(","):
        ops = [op for op in chosen(o) if inputs.suits(op, graph)]
        found += [(op, graph, o.scale, dtype) for op in ops for dtype in o.dtype.split(",")]
    return found


# ---- gnnc -------------------------------------------------------------------------------------------------------


def run_ours(o, record):
    who = "estimate" if o.estimate else "gnnc"
    todo = [t for t in tasks(o) if record.lacks(who, t[0], t[1], t[3], t[2])]
    o.lock = os.path.join(tempfile.gettempdir(), "gallery-%d.lock" % os.getpid())
    made, guard = {}, threading.Lock()

    def one(task):
        op, which, by, dtype = task
        row = dict(who=who, op=op, graph=which, dtype=dtype, scale=by)
        folder = tempfile.mkdtemp()
        try:
            with guard:
                case = inputs.Case(op, made.setdefault(which, None) or made.update({which: inputs.Graph(which, by)}) or made[which])
            row.update((ours.estimated if o.estimate else ours.timed)(o, case, case.save_all(folder, dtype), dtype))
        except Exception as fault:   # the others are run all the same
            row["fault"] = "%s: %s" % (type(fault).__name__, fault)
        finally:
            shutil.rmtree(folder)
        record.add(**row)
        told = row.get("fault") or ("%.1f and %.1f us" % (1e3 * row["forward"], 1e3 * row["both"]) if "both" in row else "estimated")
        print("%s on %s, %s: %s" % (op, which, dtype, told), flush=True)
    with ThreadPoolExecutor(o.jobs) as pool:
        list(pool.map(one, todo))


# ---- PyTorch ----------------------------------------------------------------------------------------------------


def environment(threads):
    return dict(os.environ, TORCHINDUCTOR_FX_GRAPH_CACHE="1", TORCHINDUCTOR_AUTOGRAD_CACHE="1", TORCHINDUCTOR_COMPILE_THREADS=str(threads))


def started(o, cases, out, threads):
    task = dict(cases=cases, seconds=o.seconds, memory=o.memory, out=out)
    p = subprocess.Popen([sys.executable, os.path.join(HERE, "peers.py")], stdin=subprocess.PIPE, text=True, env=environment(threads),
                         stderr=subprocess.DEVNULL if out is None else None)
    p.stdin.write(json.dumps(task))
    p.stdin.close()
    return p


def run_peers(o, record):
    """A process times; one that hangs or dies is ended, its case told, and another goes on behind it."""
    kinds = o.peers.split(",")
    todo = [(*t, [k for k in kinds if record.lacks(k, t[0], t[1], t[3], t[2])]) for t in tasks(o)]
    todo = [t for t in todo if t[4]]
    if o.warm and "compile" in kinds:
        start = time.time()
        compiled = [(*t[:4], ["compile"]) for t in todo if "compile" in t[4]]
        for p in [started(o, compiled[k::o.warm], None, 1) for k in range(o.warm)]:
            p.wait()
        print("compiled %d cases in %.0f s" % (len(compiled), time.time() - start), flush=True)
    while todo:
        p = started(o, todo, record.path, 4)
        size, since = -1, time.time()
        while p.poll() is None:
            time.sleep(0.2)
            now = os.path.getsize(record.path) if os.path.exists(record.path) else 0
            if now != size:
                size, since = now, time.time()
            if time.time() - since > o.limit + (30 if size == 0 else 0):
                p.kill()
        done = Record(o)
        todo = [(*t[:4], [k for k in t[4] if done.lacks(k, t[0], t[1], t[3], t[2])]) for t in todo]
        todo = [t for t in todo if t[4]]
        if todo:
            op, which, by, dtype, left = todo[0]
            why = "more than %g s" % o.limit if p.returncode == -9 else "the process ended with status %d" % p.returncode
            record.add(who=left[0], op=op, graph=which, dtype=dtype, scale=by, fault=why)
            todo[0] = (op, which, by, dtype, left[1:])
            todo = [t for t in todo if t[4]]


def main():
    o = options()
    if o.check or o.compare:
        if o.target == "cuda":
            o.target = "host"
        import compare
        return judged(o, checked if o.check else compare.compared)
    if o.estimate:
        o.target, o.only = "sim" if o.target == "cuda" else o.target, "ours"
    if not o.table:
        record = Record(o)
        if o.only != "peers":
            run_ours(o, record)
        if o.only != "ours":
            run_peers(o, record)
    table.show(o.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
