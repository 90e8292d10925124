#!/usr/bin/env python3
"""PyG's layers as PyG runs them, under torch.compile, and by gnnc.pyg: errors, times of a pass, memory.

It needs PyTorch, PyG, and the package gnnc (PYTHONPATH=python, or a wheel). Compiling and plans count on no side. Errors are the largest
difference from PyG's own numbers in f64, over the largest of these or 1, of results and of all gradients: of PyG in f32 and of gnnc.
"""
import argparse
import copy
import time
import warnings

import torch
import torch_geometric.nn as nn

import gnnc.pyg

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def mlp(*widths):
    return torch.nn.Sequential(*[m for a, b in zip(widths, widths[1:]) for m in (torch.nn.Linear(a, b), torch.nn.ReLU())][:-1])


def layers(f):
    """Name, layer, and which of the arguments (edge_weight, edge_attr, edge_type) it takes besides x and edge_index."""
    h = f // 8
    histogram = torch.zeros(64, dtype=torch.long)
    histogram[7] = 1000
    return [
        ("GCN", nn.GCNConv(f, f), ""), ("GCN, weights", nn.GCNConv(f, f), "edge_weight"), ("GAT", nn.GATConv(f, h, 8), ""),
        ("GAT, edges", nn.GATConv(f, h, 8, edge_dim=8), "edge_attr"), ("GATv2", nn.GATv2Conv(f, h, 8), ""),
        ("SAGE", nn.SAGEConv(f, f), ""), ("SAGE max", nn.SAGEConv(f, f, aggr="max"), ""), ("GIN", nn.GINConv(mlp(f, f, f)), ""),
        ("GINE", nn.GINEConv(mlp(f, f), edge_dim=8), "edge_attr"), ("Transformer", nn.TransformerConv(f, h, 8), ""),
        ("GEN", nn.GENConv(f, f), ""), ("PNA", nn.PNAConv(f, f, ["mean", "min", "max", "std"], ["identity", "amplification"], histogram), ""),
        ("EdgeConv", nn.EdgeConv(mlp(2 * f, f, f)), ""), ("ResGated", nn.ResGatedGraphConv(f, f), ""), ("CG", nn.CGConv(f, 8), "edge_attr"),
        ("TAG", nn.TAGConv(f, f), ""), ("APPNP", nn.APPNP(5, 0.1), ""), ("Cheb", nn.ChebConv(f, f, 3), ""), ("FA", nn.FAConv(f), "x_0"),
        ("AGNN", nn.AGNNConv(), ""), ("SuperGAT, eval", nn.SuperGATConv(f, h, 8).eval(), ""), ("GMM", nn.GMMConv(f, f, 2, 4), "edge_attr"),
        ("RGCN", nn.RGCNConv(f, f, 8), "edge_type"), ("RGAT", nn.RGATConv(f, h, 8, heads=8), "edge_type"), ("FiLM", nn.FiLMConv(f, f), ""),
        ("LE", nn.LEConv(f, f), ""), ("General", nn.GeneralConv(f, f, attention=True, heads=4), ""),
    ]


def graph(nodes, edges):
    """Half of the edges lead to a tenth of the nodes."""
    torch.manual_seed(0)
    dst = torch.where(torch.rand(edges) < 0.5, torch.randint(0, nodes // 10, (edges,)), torch.randint(0, nodes, (edges,)))
    return torch.stack([torch.randint(0, nodes, (edges,)), dst]).to(DEVICE)


def took(call, seconds):
    """us of a call, when all is done: the least of three rounds."""
    for _ in range(3):
        call()
    sync()
    begun = time.perf_counter()
    call()
    sync()
    repeat = max(3, min(200, int(seconds / 3 / (time.perf_counter() - begun))))
    best = float("inf")
    for _ in range(3):
        sync()
        begun = time.perf_counter()
        for _ in range(repeat):
            call()
        sync()
        best = min(best, (time.perf_counter() - begun) / repeat * 1e6)
    return best


def sync():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def peak(call):
    if DEVICE != "cuda":
        return 0
    call()
    sync()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    call()
    sync()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def outcome(layer, x, edges, more):
    x = x.clone().requires_grad_()
    y = layer(x, edges, **more) if "x_0" not in more else layer(x, more["x_0"], edges)
    wanted = [x, *[p for p in layer.parameters() if p.requires_grad]]
    weights = torch.cos((torch.arange(y.numel(), device=y.device) % 1000).to(y.dtype)).view_as(y)
    made = torch.autograd.grad(y, wanted, weights, allow_unused=True)
    return [y, *[g for g in made if g is not None]]


def error(of, exact):
    return max(((a.double() - b).abs().max() / b.abs().max().clamp(min=1)).item() for a, b in zip(of, exact))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--nodes", type=int, default=169343)
    p.add_argument("--edges", type=int, default=1166243)
    p.add_argument("--features", type=int, default=64)
    p.add_argument("--only", default="", help="names, separated by commas")
    p.add_argument("--compile", action="store_true", help="PyG under torch.compile, too")
    p.add_argument("--seconds", type=float, default=0.3)
    o = p.parse_args()
    warnings.simplefilter("ignore")
    edges = graph(o.nodes, o.edges)
    torch.manual_seed(1)
    x = torch.randn(o.nodes, o.features, device=DEVICE)
    given = {"edge_weight": torch.rand(o.edges, device=DEVICE), "edge_type": torch.randint(0, 8, (o.edges,), device=DEVICE), "x_0": x}
    print("| layer | error PyG | gnnc | forward PyG, us | compiled | gnnc | times | both PyG | compiled | gnnc | times | MB PyG | gnnc |")
    print("|---|" + "--:|" * 12)
    for name, layer, takes in layers(o.features):
        if o.only and name not in o.only.split(","):
            continue
        more = {takes: given[takes]} if takes in given else {}
        if takes == "edge_attr":
            more = {takes: torch.rand(o.edges, 2 if name == "GMM" else 8, device=DEVICE)}
        layer = layer.to(DEVICE)
        ours = gnnc.pyg.accelerate(copy.deepcopy(layer))
        errors = [float("nan")] * 2
        try:
            exact = outcome(copy.deepcopy(layer).double(), x.double(), edges,
                            {k: v.double() if v.is_floating_point() else v for k, v in more.items()})
            errors = [error(outcome(of, x, edges, more), exact) for of in (layer, ours)]
        except torch.OutOfMemoryError as e:
            print("%s in f64: %s" % (name, str(e).splitlines()[0][:60]))
            e = None
        exact = None
        run = lambda of: (lambda: of(x, edges, **more)) if "x_0" not in more else (lambda: of(x, more["x_0"], edges))
        variants = [layer, torch.compile(copy.deepcopy(layer), dynamic=False) if o.compile else None, ours]
        rows = []
        for both in (False, True):
            times = []
            for of in variants:
                if of is None:
                    times.append(float("nan"))
                    continue
                try:
                    if both:
                        times.append(took(lambda: outcome(of, x, edges, more), o.seconds))
                    else:
                        with torch.no_grad():
                            times.append(took(run(of), o.seconds))
                except Exception as e:   # torch.compile refuses some, and others lack memory
                    print("%s, %s: %s" % (name, "both ways" if both else "forward", str(e).splitlines()[0][:100]))
                    times.append(float("nan"))
                    torch._dynamo.reset()
                    sync()
            best = min([t for t in times[:2] if t == t], default=float("nan"))
            rows += ["%.0f | %.0f | %.0f | %.2f" % (*times, best / times[2])]
        memory = []
        for of in (layer, ours):
            try:
                memory.append(peak(lambda: outcome(of, x, edges, more)))
            except torch.OutOfMemoryError:
                memory.append(float("nan"))
        print("| %s | %.0e | %.0e | %s | %s | %.0f | %.0f |" % (name, *errors, *rows, *memory), flush=True)


if __name__ == "__main__":
    main()
