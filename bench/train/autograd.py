#!/usr/bin/env python3
"""Compares the gradients of the library's ops with PyTorch's autograd of the same formulas, in f64.

    autograd.py GNNC FOLDER      random inputs and what gnnc computes of them go to FOLDER; then compares
    autograd.py --compare FOLDER compares what is in FOLDER, on a machine that has PyTorch and need not have gnnc; --device=cuda

A row a tensor: the largest difference, relative to the largest element. Where an input is f32 so is part of the computation.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np

try:
    import torch
    from torch.nn.functional import cross_entropy, layer_norm, leaky_relu, softplus
except ImportError:
    torch = None

LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "stdlib")
SIZES = dict(E=60, U=14, N=12, V=12, G=5, R=3, H=2, D=3, K=4, F=5, Q=3, J=3, B=2, C=3, P=3, L=6)
SCALARS = dict(  # whose f32 is exact
    gamma=0.5, cut=3, eps=0.25, alpha=0.125, delta=1.25, p=0, seed=1)
SCALARS["lambda"] = 0.75
STEPS = 3
GENERICS = {"gspmm": ["-Dphi=mul", "-Drho=max"], "appnp": ["-DS=%d" % STEPS]}


# ---- Formulas: t has an op's inputs and sizes by name ----
def rows(x, at, n):
    return torch.zeros((n, *x.shape[1:]), dtype=x.dtype, device=x.device).index_add(0, at, x)


def most(x, at, n):
    at = at.view(-1, *[1] * (x.dim() - 1)).expand_as(x)
    zeros = torch.zeros((n, *x.shape[1:]), dtype=x.dtype, device=x.device)
    return zeros.scatter_reduce(0, at, x, "amax", include_self=False)


def mean(x, at, n):
    return rows(x, at, n) / rows(torch.ones_like(x), at, n).clamp(min=1)


def variance(x, at, n):
    return mean((x - mean(x, at, n)[at]).square(), at, n)


def degree(at, n):
    return rows(torch.ones_like(at, dtype=torch.float64), at, n)


def exps(s, at, n):
    return torch.exp(s - most(s.detach(), at, n)[at])


def softmax(s, at, n):
    e = exps(s, at, n)
    return e / rows(e, at, n)[at]


def logsumexp(s, at, n):
    return most(s.detach(), at, n) + torch.log(rows(exps(s, at, n), at, n))


def attend(s, x, t, n):
    return rows(softmax(s, t.dst, n)[..., None] * x, t.dst, n)


def product(x, w):  # of each row by a matrix of its own
    return torch.einsum("e...k,e...kq->e...q", x, w)


def per_type(t):
    key = t.dst * t.R + t.type
    return (1 / degree(key, t.N * t.R)[key])[:, None]


def gcn(t):
    h, c = t.x @ t.wt, (1 + degree(t.dst, t.N)).rsqrt()
    return c[:, None] * (rows((t.w * c[t.src])[:, None] * h[t.src], t.dst, t.N) + c[:, None] * h) + t.b


def sage_pool(t):
    p = torch.relu(t.x @ t.w + t.b)
    return t.x @ t.w1 + most(p[t.src], t.dst, t.N) @ t.w2


def appnp(t):
    z = t.h
    for _ in range(STEPS):
        z = (1 - t.alpha) * rows(t.c[:, None] * z[t.src], t.dst, t.N) + t.alpha * t.h
    return z


def rgat_across(t):
    m, o = (torch.einsum("ei,eihd->ehd", t.x[end], t.w[t.type]) for end in (t.src, t.dst))
    return attend(leaky_relu((t.q[t.type] * o + t.k[t.type] * m).sum(2), 0.2), m, t, t.N)


def rgat_within(t):
    a = softmax((t.o * t.m).sum(2), t.dst * t.R + t.type, t.N * t.R)
    return rows(a[..., None] * t.m, t.dst, t.N)


def hgt(t):
    s = torch.einsum("ehc,ehcd,ehd->eh", t.k[t.src], t.wa[t.type], t.q[t.dst])
    return attend(t.p[t.type] / math.sqrt(t.D) * s, product(t.x[t.src], t.wm[t.type]), t, t.N)


def pna(t):
    m, logs = torch.relu(t.a[t.dst] + t.b[t.src] + t.g), torch.log(degree(t.dst, t.N) + 1)
    z = torch.stack([mean(m, t.dst, t.N), most(m, t.dst, t.N), -most(-m, t.dst, t.N),
                     torch.sqrt(variance(m, t.dst, t.N) + 1e-5)], 1)
    c = torch.stack([torch.ones_like(logs), logs / t.delta, torch.where(logs > 0, t.delta / logs, 0)], 1)
    return t.x @ t.u0 + torch.einsum("vj,vif,ijfq->vq", c, z, t.u)


def schnet(t):
    d = (t.p[t.src] - t.p[t.dst]).square().sum(1).sqrt()
    h = softplus(torch.exp(-t.gamma * (d[:, None] - t.mu).square()) @ t.w1 + t.b1) - math.log(2)
    c = torch.where(d < t.cut, 0.5 * (torch.cos(math.pi * d / t.cut) + 1), 0)
    return rows(t.x[t.src] * (h @ t.w2 + t.b2) * c[:, None], t.dst, t.N)


def gatedgcn(t):
    r = t.a[t.dst] + t.b[t.src] + t.gc
    s, unit = torch.sigmoid(r), (r - r.mean(0)) * (r.var(0, unbiased=False) + 1e-5).rsqrt()
    y = t.u + rows(s * t.w[t.src], t.dst, t.N) / (rows(s, t.dst, t.N) + t.eps)
    return y, t.g + torch.relu(t.scale * unit + t.shift)


def agnn(t):
    c = t.x.square().sum(1).clamp(min=1e-24).rsqrt()
    s = t.beta * c[t.src] * c[t.dst] * (t.x[t.src] * t.x[t.dst]).sum(1)
    return rows(softmax(s, t.dst, t.N)[:, None] * t.x[t.src], t.dst, t.N)


def gat_full(t):
    x = torch.einsum("nk,kcd->ncd", t.h, t.w)
    s = (t.al * x).sum(2)[t.dst] + (t.ar * x).sum(2)[t.src] + t.g @ t.ae.T
    return attend(leaky_relu(s, 0.2), x[t.src], t, t.N).mean(1)


def gt_edges(t):
    keep, x = t.mask.nonzero()[:, 0], t.x[t.src] + t.g
    s = ((t.q[t.dst] * (t.k[t.src] + t.g)).sum(2) / math.sqrt(t.D) + t.b)[keep]
    y = rows(softmax(s, t.dst[keep], t.N)[..., None] * x[keep], t.dst[keep], t.N)
    return y, logsumexp(s, t.dst[keep], t.N)


FORMULAS = {
    "edge_softmax": lambda t: softmax(t.s, t.dst, t.V),
    "spmm": lambda t: rows(t.w[:, None] * t.x[t.src], t.dst, t.V),
    "spmm_heads": lambda t: rows(t.w[..., None] * t.x[t.src], t.dst, t.V),
    "gspmm": lambda t: most(t.x[t.src] * t.w, t.dst, t.V),
    "segmm": lambda t: product(t.x, t.w[t.type]),
    "segmm_bias": lambda t: torch.relu(product(t.x, t.w[t.type]) + t.b[t.type]),
    "gather_gemm_scatter": lambda t: rows(t.c[:, None] * product(t.x[t.src], t.w[t.type]), t.dst, t.V),
    "sddmm": lambda t: (t.a[t.dst] * t.b[t.src]).sum(1),
    "transr": lambda t: -(product(t.h[t.src] - t.h[t.dst], t.m[t.type]) + t.r[t.type]).square().sum(1),
    "gcn": gcn,
    "sage_mean": lambda t: t.x[:t.V] @ t.w1 + mean(t.x[t.src], t.dst, t.V) @ t.w2,
    "sage_max": lambda t: t.x @ t.w1 + most(t.x[t.src], t.dst, t.N) @ t.w2,
    "sage_pool": sage_pool,
    "gin": lambda t: vars(t)["lambda"] * ((1 + t.eps) * t.x + rows(t.x[t.src], t.dst, t.N)),
    "gine": lambda t: (1 + t.eps) * t.x + rows(torch.relu(t.x[t.src] + t.g), t.dst, t.N),
    "rgcn": lambda t: t.x @ t.w0 + rows(per_type(t) * product(t.x[t.src], t.w[t.type]), t.dst, t.N),
    "rgcn_basis": lambda t: rows(t.c[:, None] * torch.einsum("ek,eb,bkq->eq", t.x[t.src], t.a[t.type], t.z), t.dst, t.N),
    "rgcn_blocks": lambda t: rows(t.c[:, None, None] * product(t.x[t.src], t.w[t.type]), t.dst, t.N),
    "appnp": appnp,
    "rgat_across": rgat_across,
    "rgat_within": rgat_within,
    "hgt": hgt,
    "pna": pna,
    "edgeconv": lambda t: most(torch.relu(t.x[t.dst] @ t.w1 + (t.x[t.src] - t.x[t.dst]) @ t.w2), t.dst, t.N),
    "schnet": schnet,
    "gatedgcn": gatedgcn,
    "resgated": lambda t: rows(torch.sigmoid(t.k[t.dst] + t.q[t.src]) * t.x[t.src], t.dst, t.N),
    "nnconv": lambda t: rows(torch.einsum("ej,ek,jkq->eq", t.g, t.x[t.src], t.w), t.dst, t.V),
    "softmax_aggr": lambda t: rows(softmax(t.t * t.x[t.src], t.dst, t.N) * t.x[t.src], t.dst, t.N),
    "segment_sum": lambda t: rows(t.x, t.batch, t.G),
    "segment_max": lambda t: most(t.x, t.batch, t.G),
    "moments": lambda t: (mean(t.x, t.batch, t.G), variance(t.x, t.batch, t.G)),
    "cross_entropy": lambda t: cross_entropy(t.z, t.label, ignore_index=-1),
    "bpr_loss": lambda t: softplus((t.x[t.user] * (t.x[t.neg] - t.x[t.pos])).sum(1)).mean(),
    "layer_norm": lambda t: layer_norm(t.x, (t.F,), t.a, t.b, 1e-5),
    "gat": lambda t: attend(leaky_relu(t.l[t.dst] + t.r[t.src], 0.2), t.x[t.src], t, t.V),
    "gatv2": lambda t: attend((t.att * leaky_relu(t.l[t.src] + t.r[t.dst] + t.g, 0.2)).sum(2), t.l[t.src], t, t.V),
    "agnn": agnn,
    "gt": lambda t: attend((t.q[t.dst] * t.k[t.src]).sum(2) / math.sqrt(t.D), t.x[t.src], t, t.V),
    "gat_full": gat_full,
    "gt_edges": gt_edges,
}


# ---- What gnnc computes ----
def gradients():
    for file in sorted(os.listdir(LIBRARY)):
        if file.endswith(".gnn"):
            with open(os.path.join(LIBRARY, file), encoding="utf-8") as f:
                for op, wrt in re.findall(r"^grad (\w+) wrt \(([^)]*)\);", f.read(), re.M):
                    yield os.path.join(LIBRARY, file), op, wrt.split(", ")


def gnnc(*words):
    r = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        sys.exit("%s\n%s" % (" ".join(words), r.stderr))
    return r.stdout


def manifest(tool, file, op, generics):
    return json.loads(gnnc(tool, "compile", "--target=host", "--emit=manifest", "-o", "-", "--op=" + op, *generics, file))


def value(random, p, size):
    shape = [size[a] for a in p["axes"]]
    if p["role"] != "map":
        x = random.standard_normal(shape)
        return x > -0.5 if p["type"] == "bool" else x.astype(np.float32 if p["type"] == "f32" else np.float64)
    facts, to = p.get("facts", []), random.integers(0, size[p["into"]], shape)
    if "partial" in facts:
        to[random.random(shape) < 0.3] = -1
    return np.sort(to) if "sorted" in facts else to


def compute(tool, folder, target):
    for number, (file, op, wrt) in enumerate(gradients()):
        generics = ["-DT=f64"] + GENERICS.get(op, [])
        forward, grad = manifest(tool, file, op, generics), manifest(tool, file, op + ".grad", generics)
        free = {s["name"]: SIZES[s["name"]] for s in grad["spaces"] if s["kind"] == "free"}
        size = {**free, **{s["name"]: int(s["size"]) for s in grad["spaces"] if s["kind"] == "const"}}
        random, place, words = np.random.default_rng(number), os.path.join(folder, op), []
        os.makedirs(place, exist_ok=True)
        inputs = [p for p in grad["params"] if p["role"] != "result" and "prefix" not in p.get("facts", [])]
        values = {p["name"]: value(random, p, size) for p in inputs if p["role"] != "scalar"}
        if "N" in size and "src" in values:  # no edge to itself: its length has no derivative
            values["src"] = (values["dst"] + 1 + values["src"] % (size["N"] - 1)) % size["N"]
        for p in inputs:
            if p["role"] == "scalar":
                words.append("--param=%s=%s" % (p["name"], SCALARS[p["name"]]))
                continue
            np.save(place + "/%s.npy" % p["name"], values[p["name"]])
            words.append("--param=%s=%s/%s.npy" % (p["name"], place, p["name"]))
        needed = ["--size=%s=%d" % known for known in free.items()]
        gnnc(tool, "run", "--target=" + target, "--op=" + op + ".grad", *generics, *words, *needed, "--out=" + place, file)
        known = {p["name"] for p in forward["params"]}
        with open(place + "/case.json", "w", encoding="utf-8") as f:
            json.dump({"wrt": wrt, "size": size, "name": grad["name"],
                       "scalars": [p["name"] for p in inputs if p["role"] == "scalar"],
                       "given": [p["name"] for p in inputs if p["role"] != "scalar" and p["name"] in known],
                       "upstream": [p["name"] for p in inputs if p["name"] not in known],
                       "results": [p["name"] for p in grad["params"] if p["role"] == "result"]}, f)


# ---- The comparison ----
def compare(folder, device):
    wrong = 0
    print("%-20s %-6s %s" % ("op", "of", "error"))
    for op in sorted(os.listdir(folder)):
        place = os.path.join(folder, op)
        with open(place + "/case.json", encoding="utf-8") as f:
            case = json.load(f)
        load = lambda name: torch.tensor(np.load("%s/%s.npy" % (place, name)), device=device)
        t, single = SimpleNamespace(**case["size"]), False
        for name in case["scalars"]:
            setattr(t, name, SCALARS[name])
        for name in case["given"]:
            x = load(name)
            single |= x.dtype == torch.float32
            x = x.double() if x.is_floating_point() else x
            setattr(t, name, x.requires_grad_() if name in case["wrt"] else x)
        results = FORMULAS[op](t)
        results = results if isinstance(results, tuple) else (results,)
        upstream = [load(name) for name in case["upstream"]]
        single |= any(x.dtype == torch.float32 for x in upstream)
        wanted = torch.autograd.grad(results, [getattr(t, name) for name in case["wrt"]], [x.double() for x in upstream])
        for name, want, result in zip(case["wrt"], wanted, case["results"]):
            got = load("%s.%s" % (case["name"], result)).double()
            error = float((got - want).abs().max() / want.abs().max().clamp(min=1e-30))
            good = error <= (1e-5 if single else 1e-12)
            wrong += not good
            print("%-20s %-6s %.1e %s" % (op, name, error, "" if good else "wrong"))
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gnnc", nargs="?")
    parser.add_argument("folder")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--target", default="host", help="where gnnc computes: host, cuda, sim")
    a = parser.parse_args()
    missing = [op for _, op, _ in gradients() if op not in FORMULAS]
    if missing:
        sys.exit("no formula: " + ", ".join(missing))
    if not a.compare:
        compute(a.gnnc, a.folder, a.target)
    if torch is None:
        sys.exit("no PyTorch here: copy the folder to where there is one" if not a.compare else "no PyTorch")
    wrong = compare(a.folder, a.device)
    print("%d wrong" % wrong)
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
