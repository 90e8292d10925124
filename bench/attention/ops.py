"""The ops that are timed, their shapes, the bytes of their tensors; `gnnc bench`, for several ops and
graphs."""

import json
import os
import subprocess
import sys
import threading
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FAMILY = os.path.join(ROOT, "bench", "family")
sys.path.append(FAMILY)  # graphs.py and measure.py; what both folders have is this one's
LIBRARY = os.path.join("stdlib", "attention.gnn")
OWN = os.path.join("bench", "attention", "gatv2.gnn")

BYTES = {"f32": 4, "f16": 2, "bf16": 2}
# name: the op's in its file. inputs: n is a row of H x D a node, h of H a node, e of H x D an edge, w one H x
# D, 1 a number of f32. grads: those the library differentiates by.
Op = namedtuple("Op", "file name inputs grads")
OPS = {
    "gt": Op(LIBRARY, "gt", {"q": "n", "k": "n", "x": "n"}, ("q", "k", "x")),
    "gat": Op(LIBRARY, "gat", {"l": "h", "r": "h", "x": "n"}, ("l", "r", "x")),
    "gatv2": Op(OWN, "gatv2_nodes", {"l": "n", "r": "n", "att": "w"}, ("l", "r", "att")),
    "gatv2_edges": Op(LIBRARY, "gatv2", {"l": "n", "r": "n", "g": "e", "att": "w"}, ("l", "r", "g", "att")),
    "agnn": Op(LIBRARY, "agnn", {"beta": "1", "x": "n"}, ("beta", "x")),
}
# saving: forward, and what the gradient reads is left for it.
PASSES = {"forward": "", "saving": ".saving", "backward": ".grad.saved"}
# What is timed: the gradient behind the op that saves for it, in one.
TIMED = {"forward": "", "both": ".grad.saved"}
SHAPES = ("1x32", "1x64", "1x128", "1x256", "4x32", "8x8", "8x16", "8x32", "3x20")
Case = namedtuple("Case", "op dtype H D")


def shape_of(text):
    heads, features = text.split("x")
    return int(heads), int(features)


def select(ops, dtypes, shapes):
    """agnn has one head."""
    return [
        Case(op, dtype, *shape_of(shape))
        for dtype in dtypes
        for shape in shapes
        for op in ops
        if op != "agnn" or shape.startswith("1x")
    ]


def defines(case):
    sizes = {"F": case.D} if case.op == "agnn" else {"H": case.H, "D": case.D}
    return ["-D", "T=" + case.dtype] + [x for k, v in sizes.items() for x in ("-D", "%s=%d" % (k, v))]


def tensor_bytes(case, kind, nodes, edges):
    row = case.H * case.D * BYTES[case.dtype]
    return {"n": nodes * row, "h": nodes * case.H * BYTES[case.dtype], "e": edges * row, "w": row, "1": 4}[kind]


def input_bytes(case, nodes, edges, both=False):
    """Without index arrays; of both passes with the gradient of y."""
    inputs = [*OPS[case.op].inputs.values(), *(["n"] if both else [])]
    return sum(tensor_bytes(case, kind, nodes, edges) for kind in inputs)


def result_bytes(case, nodes, edges, both):
    """y; of both passes the gradients, too, and what was saved: a number of each row and head, f32."""
    bytes_ = tensor_bytes(case, "n", nodes, edges)
    if both:
        bytes_ += 4 * case.H * nodes + sum(
            tensor_bytes(case, OPS[case.op].inputs[g], nodes, edges) for g in OPS[case.op].grads
        )
    return bytes_


def largest_bytes(case, nodes, edges):
    return max(tensor_bytes(case, kind, nodes, edges) for kind in OPS[case.op].inputs.values())


# ---- Lines of results ----------------------------------------------------------------------------------------


class Record:
    """A file of JSON lines, told apart by some of their fields; what failed may be tried again."""

    def __init__(self, path, key, again=False):
        self.path, self.key, self.lock, self.rows = path, key, threading.Lock(), {}
        for line in open(path) if os.path.exists(path) else ():
            row = json.loads(line)
            if not again or "cold_ms" in row or row.get("who") == "graph":
                self.rows[self.key_of(row)] = row

    def key_of(self, row):
        return tuple(row.get(k) for k in self.key)

    def has(self, **labels):
        return self.key_of(labels) in self.rows

    def add(self, **row):
        row = {k: v for k, v in row.items() if v is not None}
        with self.lock, open(self.path, "a") as f:
            self.rows[self.key_of(row)] = row
            f.write(json.dumps(row) + "\n")
            print(text_of(row, self.key), flush=True)


def text_of(row, key):
    if row.get("who") == "graph":
        return "%-12s %d nodes, %d edges, at most %d of a node" % (
            row["graph"],
            row["nodes"],
            row["edges"],
            row["largest_degree"],
        )
    figures = " ".join("%s %.4f" % (k[:-3], row[k]) for k in ("cold_ms", "hot_ms") if k in row)
    notes = " ".join(
        str(row[k]) for k in ("verdict", "plan", "variant", "reason") if row.get(k) not in (None, "")
    )
    return "%s  %s  %s" % (" ".join("%-5s" % row.get(k, "-") for k in key), figures, notes)


# ---- gnnc bench ----------------------------------------------------------------------------------------------


class Room:
    """Bytes of the device that processes take together; one that needs more than all waits to be alone."""

    def __init__(self, all_):
        self.all, self.free, self.changed = all_, all_, threading.Condition()

    def take(self, bytes_):
        bytes_ = min(bytes_, self.all)
        with self.changed:
            self.changed.wait_for(lambda: self.free >= bytes_)
            self.free -= bytes_
        return bytes_

    def give(self, bytes_):
        with self.changed:
            self.free += bytes_
            self.changed.notify_all()


def add_options(p):
    """Those of every script that calls gnnc."""
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--target", default="cuda")
    p.add_argument("--repeat", type=int, default=20, help="launches, the cache overwritten before each")
    p.add_argument(
        "--each", type=float, default=0.3, help="seconds that one op is launched on one graph, at most"
    )
    p.add_argument(
        "--check-budget",
        type=int,
        default=300_000,
        help="expressions that results are compared with, of each op and graph",
    )
    p.add_argument("--seconds", type=float, default=540, help="nothing begins after so long")
    p.add_argument("--again", action="store_true", help="time again what failed or was skipped")


def short(graph):
    return os.path.basename(graph)[:-4] if graph.endswith(".npz") else graph


def bench(o, file, names, case, paths, turns, timeout, told, schedule=None, budget=None, more=()):
    """Times ops, by their names in the file, on graphs, in one process. told(name, path, row) is called as each
    line comes; what is told of what has no line is why. more: options of gnnc."""
    command = [
        o.gnnc,
        "bench",
        os.path.join(ROOT, file),
        "-I",
        os.path.join(ROOT, "stdlib"),
        "--target=" + o.target,
        "--json",
        "--flush",
        "--alone=" + turns,
        "--seconds=%g" % o.each,
        "--repeat=%d" % o.repeat,
        "--check-budget=%d" % (budget or o.check_budget),
        "--bandwidth=3000",  # shares of it are not read here
        *defines(case),
        *("--op=" + name for name in names),
        *("--graph=" + path for path in paths),
        *more,
    ]
    command += ["--schedule=" + schedule] if schedule else []
    waiting = {("%s_%s" % (name.replace(".", "_"), case.dtype), path): name for name in names for path in paths}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = threading.Timer(max(timeout, 5), process.kill)
    limit.start()
    errors = []
    reader = threading.Thread(target=lambda: errors.extend(process.stderr))
    reader.start()
    for line in process.stdout:
        try:
            row = json.loads(line)
        except ValueError:
            continue  # cut short
        name = waiting.pop((row["op"], row["graph"]), None)
        if name is None:
            continue
        said = row_of(row)
        if "reason" in said:
            reader.join(0.1 if process.poll() is None else 5)
            said["reason"] = fault_of(errors) or said["reason"]
        told(name, row["graph"], said)
    process.wait()
    reader.join()
    limited = not limit.is_alive()
    limit.cancel()
    if not limited:
        for (_, path), name in waiting.items():
            told(
                name,
                path,
                dict(verdict="failed", reason=fault_of(errors) or "exit status %d" % process.returncode),
            )


def fault_of(errors):
    return next((line.strip()[:200] for line in errors if "error" in line), None)


def row_of(row):
    """Of a line of gnnc bench --json what is recorded."""
    if "median_ms" not in row:
        return dict(verdict=row["verdict"], plan=row["plan"], reason=row["verdict"])
    sizes = dict(x.split("=") for x in row["sizes"].split())
    of_gpu = {k: row[k] for k in ("empty_cold_ms", "empty_ms", "replay_ms", "empty_replay_ms") if k in row}
    return dict(
        cold_ms=row["median_ms"],
        hot_ms=row["hot_ms"],
        prepare_ms=row["prepare_ms"],
        verdict=row["verdict"],
        plan=row["plan"],
        compared=row["compared"],
        one_in=row["one_in"],
        workspace_bytes=row["workspace_bytes"],
        prepared_bytes=row["prepared_bytes"],
        nodes=int(sizes.get("V", sizes.get("N", 0))),
        edges=int(sizes["E"]),
        **of_gpu,
    )
