#!/usr/bin/env python3
"""Times a layer of RGCN, forward, by gnnc and by PyTorch Geometric, and says what memory each takes. Each time is a line of JSON that is added to --out;
--table prints what is there. Data: NAME.npz with rowptr, col and etype in --data; am is made here, of the size and with relations as skewed as those of AM."""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench", "family"))
BYTES = {"f32": 4, "f16": 2, "bf16": 2}
OPERAND = {"f32": "tf32", "f16": "f16", "bf16": "bf16"}
KEY = ("data", "dtype", "K", "Q", "who")
AM = dict(nodes=1666764, edges=5988321, relations=133)


# ---- Schedules -----------------------------------------------------------------------------------------------
def some(verb, index, n):
    return "%s %s %d;  " % (verb, index, n) if n > 1 else ""


def lanes(dtype, K, Q, index):
    """A warp multiplies a row of x by a matrix, or rows by a matrix each: 16 bytes of a matrix's row a lane, and of x as many numbers as a lane has rows."""
    vector = 16 // BYTES[dtype]
    q = min(32, max(1, Q // vector))
    k = min(32 // q, max(1, K // vector))
    steps = max(1, K // (k * vector))
    return ("lanes q %d;  vector q %d;  " % (q, vector) + some("registers", "q", Q // (q * vector)) + some("lanes", "k", k) + "registers k %d;  " % vector +
            some("unroll", "k", min(4, steps)) + some("lanes", index, 32 // (q * k)))


def schedules(dtype, K, Q):
    """Schedules of the library's op by name. default: its own; staged: the compiler's, with messages in memory; cut 128, cut 2: the library's in parts of 128 edges, or two
    edges at a time; walk: a kernel, in which a group walks the edges of a row; classes: long rows have a block each, with as many groups as
    a block may have."""
    fused, wide = "fuse y.sum, y.sum_2, y.sum_3, y at e;  ", lanes(dtype, K, Q, "e")
    row = "block v 8;  groups v 8;  " + wide
    return {
        "default": "",
        "staged": "schedule rgcn staged for sm_90 { }",
        "cut 128": "schedule rgcn cut_128 for sm_90 { %s%ssplit e 128;  order v by degree(dst, v) desc;  overlap; }" % (fused, row),
        "cut 2": "schedule rgcn cut_2 for sm_90 { %s%ssplit e 64;  unroll e 2 masked;  order v by degree(dst, v) desc;  overlap; }" % (fused, row),
        "walk": "schedule rgcn walk { %s%s }" % (fused, row),
        "classes": "schedule rgcn classes for sm_90 { %sbucket v by degree(dst, v) at 32, 256 use few, more, many;  overlap; }\n" % fused +
                   "schedule rgcn few for sm_90 { %s }\n" % row +
                   "schedule rgcn more for sm_90 { block v 1;  groups e 8;  %s }\n" % wide +
                   "schedule rgcn many for sm_90 { block v 1;  groups e 16;  %s }" % wide,
    }


def pair_schedules(dtype, K, Q):
    """Of the op over pairs. tensor: pairs in the order of their types by matrix operations; walk: products and sums in one kernel."""
    wide = lanes(dtype, K, Q, "p")
    return {
        "pairs": "",
        "pairs tensor": "schedule pairs tensor { y.sum_2: { order p by kind;  block p 64 by kind;  registers p 2;  groups p 4;  mma k %s; } }" % OPERAND[dtype],
        "pairs walk": "schedule pairs walk { fuse y.sum, y.sum_2, y.sum_3, y at p;  y: { block v 8;  groups v 8;  %s } }" % wide,
    }


# ---- Data ----------------------------------------------------------------------------------------------------
def am_edges(np, scale=1):
    """Relations as large as a power law has them. What one points at is a few nodes' for the most part, as in a graph of museum objects and their properties."""
    rng = np.random.default_rng(1)
    nodes, edges, relations = AM["nodes"] // scale, AM["edges"] // scale, AM["relations"]
    share = 1 / (np.arange(relations) + 2.0) ** 1.35
    size = np.maximum(1, (share / share.sum() * edges)).astype(np.int64)
    size[0] += edges - size.sum()
    parts = []
    for r in range(relations):
        source = rng.integers(nodes, size=size[r])
        pool = rng.integers(nodes, size=max(1, int(size[r] ** 0.85)))
        parts.append((source, pool[(len(pool) * rng.random(size[r]) ** 3).astype(np.int64)], np.full(size[r], r)))
    u, v, t = (np.concatenate(x) for x in zip(*parts))
    return nodes, np.concatenate([u, v]), np.concatenate([v, u]), np.concatenate([t, t + relations]), 2 * relations


def edges_of(np, name, o):
    if name == "am":
        return am_edges(np, o.scale)
    with np.load(os.path.join(o.data, name + ".npz")) as z:
        rowptr, col, kind = z["rowptr"], z["col"], z["etype"]
    return len(rowptr) - 1, col, np.repeat(np.arange(len(rowptr) - 1), np.diff(rowptr)), kind, int(kind.max()) + 1


class Graph:
    """Edges by destination, those of one by type; files for gnnc."""

    def __init__(self, np, name, o, folder):
        self.name, self.folder = name, folder
        self.nodes, src, dst, kind, self.types = edges_of(np, name, o)
        by = np.argsort(dst.astype(np.int64) * self.types + kind, kind="stable")
        self.src, self.dst, self.type = (a[by].astype(np.int32) for a in (src, dst, kind))
        self.edges = len(self.src)
        begins = np.concatenate([[True], (self.dst[1:] != self.dst[:-1]) | (self.type[1:] != self.type[:-1])])
        self.pairs = int(begins.sum())
        self.rowptr = np.concatenate([[0], np.bincount(self.dst, minlength=self.nodes).cumsum()]).astype(np.int32)
        self.path = os.path.join(folder, name + ".npz")
        np.savez(self.path, rowptr=self.rowptr, col=self.src, etype=self.type)
        for key, array in (("pair", begins.cumsum() - 1), ("row", self.dst[begins]), ("kind", self.type[begins])):
            np.save(self.file(key), array.astype(np.int32))

    def file(self, key):
        return os.path.join(self.folder, "%s.%s.npy" % (self.name, key))

    def text(self):
        import numpy as np
        return "%s: %d nodes, %d edges, %d types, at most %d edges of a node, %d pairs of a node and a type" % (
            self.name, self.nodes, self.edges, self.types, np.diff(self.rowptr).max(), self.pairs)


def must_bytes(g, dtype, K, Q):
    """Each array once, indices included."""
    return BYTES[dtype] * (g.nodes * (K + Q) + (g.types + 1) * K * Q) + 4 * (3 * g.edges)


# ---- gnnc ----------------------------------------------------------------------------------------------------
def command(o, g, dtype, K, Q, source, name, of_pairs):
    c = [o.gnnc, o.verb, source, "-I", os.path.join(ROOT, "stdlib"), "--graph=" + g.path, "--op=" + ("pairs" if of_pairs else "rgcn"), "-D", "T=" + dtype,
         "-D", "K=%d" % K, "-D", "Q=%d" % Q, "-D", "R=%d" % g.types, "--target=" + o.target, "--check-budget=%d" % o.budget]
    c += ["--schedule=" + name] if name else []
    c += ["--param=%s=%s" % (key, g.file(key)) for key in ("pair", "row", "kind")] if of_pairs else []
    return c + (["--json", "--flush", "--seconds=1", "--bandwidth=4200", "--repeat=%d" % o.repeat] if o.verb == "bench" else ["--check"])


def ours(o, g, dtype, K, Q, who, text, of_pairs):
    words = text.split()
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "s.gnn")
        with open(source, "w") as f:
            f.write("%s%s\n" % (open(os.path.join(HERE, "rgcn.gnn")).read() if of_pairs else 'import "layers_conv";\n', text))
        done = subprocess.run(command(o, g, dtype, K, Q, source, words[2] if words else None, of_pairs), capture_output=True, text=True)
    results = [json.loads(line) for line in done.stdout.splitlines()] if o.verb == "bench" else []
    row = results[0] if results else {"verdict": "right" if o.verb != "bench" and not done.returncode and " right" in done.stdout else "failed"}
    fault = next((line for line in done.stderr.splitlines() if "error" in line), "exit status %d" % done.returncode)
    if "median_ms" not in row:
        return dict(verdict=row["verdict"], **({} if row["verdict"] == "right" else {"reason": fault[:200]}))
    return dict(cold_ms=row["median_ms"], hot_ms=row["hot_ms"], prepare_ms=row["prepare_ms"], verdict=row["verdict"], plan=row["plan"], compared=row["compared"],
                peak_bytes=row["workspace_bytes"] + BYTES[dtype] * g.nodes * Q, workspace_bytes=row["workspace_bytes"], prepared_bytes=row["prepared_bytes"])


# ---- PyTorch Geometric ---------------------------------------------------------------------------------------
class Problem:
    """Inputs on the device. by_type: edges in the order of their types, as is_sorted asks for."""

    def __init__(self, torch, clock, g, dtype, K, Q):
        self.t = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
        make = lambda *shape: torch.rand(shape, device=clock.device).sub_(0.5).to(self.t)
        self.x, self.w, self.w0 = make(g.nodes, K), make(g.types, K, Q), make(K, Q)
        self.index = torch.stack([torch.from_numpy(a).to(clock.device).long() for a in (g.src, g.dst)])
        self.type = torch.from_numpy(g.type).to(clock.device).long()
        self.torch, self.g = torch, g

    def by_type(self):
        by = self.type.argsort(stable=True)
        return self.index[:, by].contiguous(), self.type[by].contiguous()

    def layer(self, kind, **more):
        import torch_geometric.nn as nn
        K, Q = self.w0.shape
        made = getattr(nn, kind)(K, Q, self.g.types, bias=False, **more).to(self.x.device).to(self.t)
        with self.torch.no_grad():
            made.weight.copy_(self.w)
            made.root.copy_(self.w0)
        return made


def rows_right(p, y):
    """Against f64 at a sample of rows, that of the most edges among them."""
    import numpy as np
    torch, g = p.torch, p.g
    degree = np.diff(g.rowptr)
    for v in sorted({int(degree.argmax()), *np.linspace(0, g.nodes - 1, 40).astype(int).tolist()}):
        a, b = int(g.rowptr[v]), int(g.rowptr[v + 1])
        want = p.x[v].double() @ p.w0.double()
        for r in p.type[a:b].unique().tolist():
            edges = p.index[0, a:b][p.type[a:b] == r]
            want = want + p.x[edges].double().mean(0) @ p.w[r].double()
        if (y[v].double() - want).abs().max() > 2e-2 * max(1.0, float(want.abs().max())):
            return False
    return True


def peers(p):
    """Name, and a call of each."""
    def call(layer, index, kind):
        return lambda: layer(p.x, index, kind)
    yield "pyg RGCNConv", lambda: call(p.layer("RGCNConv"), p.index, p.type)
    yield "pyg RGCNConv is_sorted", lambda: call(p.layer("RGCNConv", is_sorted=True), *p.by_type())
    yield "pyg FastRGCNConv", lambda: call(p.layer("FastRGCNConv"), p.index, p.type)


def peak(torch, clock, call):
    """Bytes of a call beyond what was there before, the result included."""
    if not clock.cuda:
        return 0
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    clock.sync()
    return torch.cuda.max_memory_allocated() - before


def peer_row(torch, clock, p, make):
    try:
        with torch.no_grad():
            call = make()
            most = peak(torch, clock, call)
            right = rows_right(p, call())
            cold, hot = clock.times(call)
        return dict(cold_ms=cold, hot_ms=hot, verdict="right" if right else "WRONG", peak_bytes=most)
    except Exception as fault:
        text = " ".join(("%s: %s" % (type(fault).__name__, fault)).split())
        return dict(verdict="failed", reason="out of memory" if "out of memory" in text.lower() else text[:200])


# ---- All -----------------------------------------------------------------------------------------------------
def size_text(row):
    return "%.1f MB" % (row["peak_bytes"] / 1e6) if "peak_bytes" in row else row.get("reason", "–")


def table(rows):
    print("| graph | type | K = Q | gnnc | µs | memory | fastest of PyG | µs | memory | × | others |\n|---|---|--:|---|--:|--:|---|--:|--:|--:|---|")
    cases, factors = {}, []
    for r in rows:
        cases.setdefault(tuple(r[k] for k in KEY[:-1]), {})[r["who"]] = r
    for case, by in cases.items():
        right = sorted((r for r in by.values() if r["verdict"] == "right" and "cold_ms" in r), key=lambda r: r["cold_ms"])
        mine, theirs = (next((r for r in right if r["who"].startswith("pyg") == pyg), None) for pyg in (False, True))
        cells = [x for r in (mine, theirs) for x in ((r["who"], "%.1f" % (1e3 * r["cold_ms"]), size_text(r)) if r else ("–", "–", "–"))]
        factor = theirs["cold_ms"] / mine["cold_ms"] if mine and theirs else math.nan
        factors += [factor] if factor == factor else []
        others = "; ".join("%s %s" % (r["who"], "%.1f, %s" % (1e3 * r["cold_ms"], size_text(r)) if "cold_ms" in r else r.get("reason", r["verdict"]))
                           for r in by.values() if r is not mine and r is not theirs)
        print("| %s | %s | %d | %s | %.2f | %s |" % (case[0], case[1], case[2], " | ".join(cells), factor, others))
    if factors:
        print("\n%.2f × the fastest of PyG, geometric mean of %d; least %.2f" % (math.exp(sum(map(math.log, factors)) / len(factors)), len(factors), min(factors)))


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", default=".")
    p.add_argument("--names", default="aifb,mutag,fb15k_237,am")
    p.add_argument("--sizes", default="16,32,64", help="K and Q")
    p.add_argument("--dtypes", default="f32,f16")
    p.add_argument("--only", default="ours,peers")
    p.add_argument("--schedules", help="only these, by name")
    p.add_argument("--scale", type=int, default=1, help="am so many times smaller")
    p.add_argument("--out", default="rgcn.jsonl")
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--target", default="cuda")
    p.add_argument("--verb", default="bench", help="run: checks alone")
    p.add_argument("--repeat", type=int, default=15)
    p.add_argument("--budget", type=int, default=3000000, help="expressions of the check")
    p.add_argument("--seconds", type=float, default=540, help="nothing begins after so long")
    p.add_argument("--table", action="store_true")
    return p.parse_args()


def cases_of(o, g, dtype, K):
    """Who, and what gives the row."""
    for found, of_pairs in ((schedules(dtype, K, K), False), (pair_schedules(dtype, K, K), True)):
        for name, text in found.items():
            if not o.schedules or name in o.schedules.split(","):
                yield "gnnc " + name, lambda text=text, of_pairs=of_pairs, name=name: ours(o, g, dtype, K, K, name, text, of_pairs)


def main():
    o = parse()
    rows = [json.loads(line) for line in open(o.out)] if os.path.exists(o.out) else []
    if o.table:
        return table(rows)
    import numpy as np
    known, end, torch, clock = {tuple(r[k] for k in KEY) for r in rows}, time.time() + o.seconds, None, None
    if "peers" in o.only:
        import torch
        import measure
        torch.backends.cuda.matmul.allow_tf32 = True
        clock = measure.Clock()
    folder = tempfile.mkdtemp()
    for name in o.names.split(","):
        g = Graph(np, name, o, folder)
        print(g.text(), flush=True)
        for K, dtype in ((int(k), t) for k in o.sizes.split(",") for t in o.dtypes.split(",")):
            todo = list(cases_of(o, g, dtype, K)) if "ours" in o.only else []
            p = Problem(torch, clock, g, dtype, K, K) if torch else None
            todo += [(who, lambda make=make: peer_row(torch, clock, p, make)) for who, make in peers(p)] if torch else []
            for who, get in todo:
                key = (name, dtype, K, K, who)
                if key in known:
                    continue
                if time.time() > end:
                    return print("out of time")
                row = {**dict(zip(KEY, key)), "bytes": must_bytes(g, dtype, K, K), "edges": g.edges, "pairs": g.pairs, **get()}
                open(o.out, "a").write(json.dumps(row) + "\n")
                print(" ".join(str(row.get(k, "")) for k in KEY + ("cold_ms", "hot_ms", "peak_bytes", "verdict", "plan", "reason")), flush=True)
                if torch and clock.cuda:
                    torch.cuda.empty_cache()   # gnnc needs the memory


if __name__ == "__main__":
    main()
