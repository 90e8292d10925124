#!/usr/bin/env python3
"""What a call from Python takes: GAT in PyTorch, by gnnc, by its formula and by torch.compile of that; us, submitted and done.

It needs PyTorch, and the package gnnc (PYTHONPATH=python, or a wheel); for one column apache-tvm-ffi. Compiling and plans count on neither
side.
"""
import argparse
import time

import torch

import gnnc
from gnnc import _arrays

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SIZES = ((1000, 200), (13264, 2708), (1166243, 169343))   # edges and nodes: a small graph, Cora's, arxiv's


def formula(src, dst, l, r, x):
    s = torch.nn.functional.leaky_relu(l[dst] + r[src], 0.2)
    top = torch.full_like(l, -torch.inf).scatter_reduce(0, dst[:, None].expand_as(s), s, "amax")
    a = (s - top[dst]).exp()
    total = torch.zeros_like(l).index_add(0, dst, a)
    return torch.zeros(len(l), *x.shape[1:], dtype=x.dtype, device=x.device).index_add(0, dst, (a / total[dst])[..., None] * x[src])


def took(call, repeat):
    """The least of three rounds: until all is submitted, until all is done."""
    for _ in range(20):
        call()
    best = [float("inf")] * 2
    for _ in range(3):
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(repeat):
            call()
        submitted = time.perf_counter()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        for k, now in enumerate((submitted, time.perf_counter())):
            best[k] = min(best[k], (now - begun) / repeat * 1e6)
    return "%.1f, %.1f" % tuple(best)


def by_ffi(plan, arrays, out, repeat):
    try:
        f = plan.ffi()
    except ImportError:
        return "not installed"
    return took(lambda: f(*arrays, out), repeat)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--repeat", type=int, default=2000)
    o = p.parse_args()
    gat = gnnc.compile('import "attention"; op unused(x: f32[N]) -> (y: f32[N]) { y[n] = x[n]; }', ops=["gat", "gat.grad"]).gat
    compiled = torch.compile(formula)
    print("| edges | gnn_launch by ctypes | by the TVM FFI | a plan | the op | formula | `torch.compile` | op, both passes | formula, both | `torch.compile`, both |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for edges, nodes in SIZES:
        torch.manual_seed(0)
        dst = torch.sort(torch.randint(0, nodes, (edges,)))[0].to(DEVICE)
        src = torch.randint(0, nodes, (edges,)).to(DEVICE)
        arrays = [torch.randn(nodes, 4, *more, device=DEVICE) for more in ((), (), (16,))]
        wanting = [a.clone().requires_grad_() for a in arrays]
        repeat = o.repeat if edges < 1e6 else max(o.repeat // 10, 1)
        both = lambda f: took(lambda: torch.autograd.grad(f(src, dst, *wanting).sum(), wanting), max(repeat // 4, 1))
        with torch.no_grad():
            plan = gat.plan(src, dst, *arrays)
            kept = plan(*arrays)   # whose memory the bare launch writes
            b = plan._bound
            memory, owner = _arrays.memory(arrays[0], plan.workspace)
            row = [took(lambda: b.run(plan.pointer, b.args, b.count, memory, plan.workspace, None), repeat),
                   by_ffi(plan, arrays, kept, repeat), took(lambda: plan(*arrays), repeat)]
            row += [took(lambda: f(src, dst, *arrays), repeat) for f in (gat, formula, compiled)]
        row += [both(f) for f in (gat, formula, compiled)]
        print("| %d | %s |" % (edges, " | ".join(row)), flush=True)
        del kept, owner


if __name__ == "__main__":
    main()
