#!/usr/bin/env python3
"""Times ops that no schedule was made for, and their gradients, by gnnc and by torch.compile of the same formula, on the same graph.

    bench/unseen/unseen.py --out=unseen.jsonl                      # needs PyTorch and a GPU
    bench/unseen/unseen.py --only=ours --target=host --scale=500   # needs NumPy alone

A line of JSON a case is added to --out; the table is printed at the end. `both` of gnnc is its forward op and its gradient, which
computes again what it needs; `both` of PyTorch is the forward pass and torch.autograd.grad. Times are medians with the L2 cache
overwritten before each launch. Results of gnnc are compared with the evaluator, those of PyTorch with its formula in f64."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import namedtuple

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench", "family"))
import graphs  # noqa: E402

# shapes: letters are sizes; wrt: what the gradient is of, in the order of unseen.gnn.
Case = namedtuple("Case", "graph sizes shapes wrt")
WIDE, HEADS = dict(F=64, K=16), dict(H=4, D=16)
ROW = dict(x="NF")
CASES = {
    "tempered": Case("arxiv", HEADS, dict(t="H", s="EH", x="NHD"), "t s x"),
    "soft": Case("arxiv", HEADS, dict(t="H", x="NHD"), "t x"),
    "symmetric": Case("arxiv", dict(F=64), dict(w="E", n="N", x="NF"), "n w x"),
    "waves": Case("arxiv", dict(F=64), dict(p="N3", a="F", b="F", x="NF"), "a b x"),
    "filtered": Case("arxiv", WIDE, dict(t="E", w="KF", x="NF"), "w x"),
    "loops": Case("arxiv", HEADS, dict(l="NH", r="NH", x="NHD"), "l r x"),
    "triplets": Case("road", dict(F=32), dict(p="EF", q="EF"), "p q"),
    "turned": Case("arxiv", dict(K=32), dict(a="EK", h="NK2"), "a h"),
    "renamed": Case("pattern1024", dict(H=1, D=64), dict(q="NHD", k="NHD", x="NHD"), "q k x"),
}
SMALLER = {"road": 8, "pattern1024": 4}   # of the graphs' nodes, so that what PyTorch stores for pairs of edges fits


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--name", default="gnnc", help="what the compiler is called in the table")
    p.add_argument("--target", default="cuda")
    p.add_argument("--arch", default="native")
    p.add_argument("--only", choices=("ours", "peers"))
    p.add_argument("--ops", default=",".join(CASES))
    p.add_argument("--scale", type=int, default=1, help="graphs are so many times smaller")
    p.add_argument("--seconds", type=float, default=1, help="of launches an op")
    p.add_argument("--limit", type=float, default=100, help="seconds a process of gnnc may take")
    p.add_argument("--out", default="unseen.jsonl")
    p.add_argument("--table", action="store_true", help="print the table of --out and time nothing")
    return p.parse_args()


# ---- The graphs -------------------------------------------------------------------------------------------------


def smaller(name, by):
    """The arguments of a graph that is about so many times smaller, but has some hundred nodes."""
    kind, how = graphs.SPECS[name]
    by = min(by, how.get("nodes", by * 300) // 300) if kind == "skewed" else by
    if kind == "skewed":
        edges = how["edges"] // by
        return kind, dict(nodes=how["nodes"] // by, edges=edges, most=min(how["most"], edges // 20))
    if kind == "grid":
        side = max(int(how["side"] / by ** 0.5), 8)
        return kind, dict(side=side, edges=int(how["edges"] * side ** 2 / how["side"] ** 2))
    return kind, dict(how, graphs=max(how["graphs"] // by, 1))


def graph_of(name, scale):
    graphs.SPECS["_"] = smaller(name, scale * SMALLER.get(name, 1))
    return graphs.make("_")


def saved(folder, name, rowptr, col):
    path = os.path.join(folder, name + ".npz")
    np.savez(path, rowptr=rowptr, col=col)
    return path


# ---- gnnc -------------------------------------------------------------------------------------------------------


def gnnc(o, verb, name, path, *more):
    """The output of a call for an op and its gradient, or why there is none."""
    command = [o.gnnc, verb, os.path.join(HERE, "unseen.gnn"), "--graph=" + path, "--target=" + o.target, "--op=" + name,
               "--op=" + name + ".grad", *more] + ["-D%s=%d" % size for size in CASES[name].sizes.items()]
    if o.target == "cuda":
        command.append("--arch=" + o.arch)
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=o.limit)
    except subprocess.TimeoutExpired:
        return "", "more than %g s" % o.limit
    return p.stdout, (p.stderr.strip() or p.stdout.strip() or "no output").splitlines()[-1] if p.returncode else None


def compared(o, name, folder):
    """Whether both are right on a graph that is quickly evaluated; else what was said of it."""
    out, fault = gnnc(o, "run", name, saved(folder, CASES[name].graph + "-small", *graph_of(CASES[name].graph, 200 * o.scale)), "--check")
    return fault or ("right" if out.count(" right") == 2 else "not right: " + out.strip().splitlines()[-1])


def ours(o, name, path, folder):
    result = {"checked": compared(o, name, folder)}
    out, fault = gnnc(o, "bench", name, path, "--json", "--flush", "--seconds=%g" % o.seconds, "--check-budget=20000000")
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    if len(rows) != 2:
        return {**result, "fault": fault or "no figures"}
    forward, back = sorted(rows, key=lambda r: "_grad" in r["op"])
    return {**result, "forward": forward["median_ms"], "both": forward["median_ms"] + back["median_ms"],
            "plans": [forward["plan"], back["plan"]], "verdicts": [forward["verdict"], back["verdict"]],
            "must": [forward["compulsory_bytes"], back["compulsory_bytes"]], "workspace": [forward["workspace_bytes"], back["workspace_bytes"]]}


# ---- PyTorch ----------------------------------------------------------------------------------------------------


def formulas(torch):
    """Of each op: what is prepared once a graph, then the formula."""
    F = torch.nn.functional

    def total(g, values):
        return values.new_zeros(g.n, *values.shape[1:]).index_add(0, g.row, values)

    def most(g, values):
        at = g.row.view(-1, *[1] * (values.dim() - 1)).expand_as(values)
        return values.new_full((g.n, *values.shape[1:]), -torch.inf).scatter_reduce(0, at, values, "amax", include_self=True)

    def softmax(g, s):
        e = (s - most(g, s.detach())[g.row]).exp()
        return e / total(g, e)[g.row]

    def tempered(g, t, s, x):
        return total(g, softmax(g, s * t)[:, :, None] * x[g.col])

    def soft(g, t, x):
        z = x[g.col] * t[:, None]
        m = most(g, z.detach())
        m = torch.where(m.isfinite(), m, 0)
        return total(g, (z - m[g.row]).exp()).log() + m

    def symmetric(g, w, n, x):
        return n[:, None] * total(g, (w * n[g.col])[:, None] * x[g.col])

    def waves(g, p, a, b, x):
        r = ((p[g.col] - p[g.row]).square().sum(-1) + 0.01).sqrt()[:, None]
        return total(g, x[g.col] * (a * r + b).sin() * (b * r).cos() * (-r * a.abs()).exp() / r)

    def filtered(g, t, w, x):
        d = t[:, None] - 0.25 * torch.arange(w.shape[0], device=t.device)
        return total(g, x[g.col] * ((-d * d).exp() @ w))

    def loops(g, l, r, x):
        s, o = F.leaky_relu(l[g.row] + r[g.col], 0.2), F.leaky_relu(l + r, 0.2)
        m = torch.maximum(o, most(g, s)).detach()
        c, e = (o - m).exp(), (s - m[g.row]).exp()
        return (c[:, :, None] * x + total(g, e[:, :, None] * x[g.col])) / (c + total(g, e))[:, :, None]

    def triplets(g, p, q):
        return p.new_zeros(g.n, p.shape[1]).index_add(0, g.row[g.first], F.relu(p[g.first] + q[g.second]))

    def turned(g, a, h):
        u, v, c, s = h[g.col, :, 0], h[g.col, :, 1], a.cos(), a.sin()
        return total(g, torch.stack((u * c - v * s, u * s + v * c), -1))

    def renamed(g, q, k, x):
        s = (q[g.row] * k[g.col]).sum(-1) * q.shape[-1] ** -0.5
        return total(g, softmax(g, s)[:, :, None] * x[g.col])

    return locals()


def pairs_of(torch, g):
    """Edges a and b with dst[b] == src[a]."""
    degree = torch.bincount(g.row, minlength=g.n)
    begin = torch.cumsum(degree, 0) - degree
    each = degree[g.col]
    first = torch.repeat_interleave(torch.arange(len(g.col), device=g.col.device), each)
    at = torch.arange(len(first), device=g.col.device) - torch.repeat_interleave(torch.cumsum(each, 0) - each, each)
    return first, begin[g.col[first]] + at


def peers(name, rowptr, col):
    import torch
    import measure
    case, clock = CASES[name], measure.Clock(seconds=0.1)
    to = lambda a: torch.as_tensor(a, device=clock.device).long()  # noqa: E731
    degree = to(rowptr)[1:] - to(rowptr)[:-1]
    Graph = namedtuple("Graph", "n row col first second")
    g = Graph(len(rowptr) - 1, torch.repeat_interleave(torch.arange(len(degree), device=clock.device), degree), to(col), None, None)
    if name == "triplets":
        g = g._replace(**dict(zip(("first", "second"), pairs_of(torch, g))))
    size = dict(case.sizes, E=len(col), N=g.n, **{"2": 2, "3": 3})
    seeded = torch.Generator(clock.device).manual_seed(1)
    random = lambda shape, low=-1: torch.rand([size[c] for c in shape], generator=seeded, device=clock.device) * (1 - low) + low  # noqa: E731
    values = {k: random(shape) for k, shape in case.shapes.items()}
    formula = formulas(torch)[name]
    leaves = [values[k] for k in case.wrt.split()]
    dy = torch.rand(formula(g, **values).shape, generator=seeded, device=clock.device)

    def both(f):
        def call():
            y = f(g, **values)
            return y, torch.autograd.grad(y, leaves, dy)
        return call

    def agree(f):
        exact = {k: v.double() for k, v in values.items()}
        y, want = f(g, **values), formula(g, **exact)
        ok = want.isfinite()
        return float(((y.double() - want)[ok]).norm() / want[ok].norm())

    result = {}
    for kind, f in (("eager", formula), ("compiled", torch.compile(formula, dynamic=False))):
        try:
            for leaf in leaves:
                leaf.requires_grad_(False)
            forward, error = clock.cold(lambda: f(g, **values)), agree(f)
            for leaf in leaves:
                leaf.requires_grad_(True)
            result[kind] = {"forward": forward, "both": clock.cold(both(f)), "error": error}
        except Exception as fault:   # a peer that fails is a line that says so
            result[kind] = {"fault": str(fault).splitlines()[0][:200]}
        torch.cuda.empty_cache()
    return result


# ---- The runs and the table -------------------------------------------------------------------------------------


def record(o, row):
    with open(o.out, "a") as f:
        f.write(json.dumps(row) + "\n")


def run(o):
    for name in o.ops.split(","):
        rowptr, col = graph_of(CASES[name].graph, o.scale)
        common = {"op": name, "graph": CASES[name].graph, "nodes": len(rowptr) - 1, "edges": len(col)}
        with tempfile.TemporaryDirectory() as folder:
            path = saved(folder, CASES[name].graph, rowptr, col)
            if o.only != "peers":
                record(o, {**common, "who": o.name, **ours(o, name, path, folder)})
        if o.only != "ours":
            for kind, figures in peers(name, rowptr, col).items():
                record(o, {**common, "who": kind, **figures})


def table(o):
    rows = [json.loads(line) for line in open(o.out)]
    figure = lambda v: "%.3f" % v if v is not None else "–"  # noqa: E731
    print("| op | who | forward ms | both ms | plans | notes |\n|---|---|--:|--:|---|---|")
    for r in rows:
        notes = r.get("fault") or ", ".join(v for v in sorted({r.get("checked", "right"), *r.get("verdicts", [])}) if v not in ("right", "not compared"))
        print("| %s | %s | %s | %s | %s | %s |" % (r["op"], r["who"], figure(r.get("forward")), figure(r.get("both")), ", ".join(r.get("plans", [])), notes))


if __name__ == "__main__":
    o = options()
    if not o.table:
        run(o)
    table(o)
