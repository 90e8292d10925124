#!/usr/bin/env python3
"""Two layers of PyG's on sampled batches, each with edges of its own: ms a batch, both passes, as PyG runs them and by gnnc.pyg.

A batch is as NeighborLoader makes it of 1,024 seeds with 15 and 10 neighbours: 1,024 destinations, their sources, and those of these.
Edges are drawn at random before; what the loader takes counts on no side. It needs PyTorch, PyG and the package gnnc.
"""
import argparse
import copy
import time
import warnings

import torch
import torch_geometric.nn as nn

import gnnc._edge_indexes
import gnnc.pyg

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def batch(seeds, features):
    """Nodes, and edges sorted by nothing: each node of the first two rings has up to that many sources."""
    first = seeds * 15
    degree = torch.randint(8, 16, (seeds,))
    dst = torch.repeat_interleave(torch.arange(seeds), degree)
    src = torch.randint(0, seeds + first, (len(dst),))
    degree2 = torch.randint(5, 11, (first,))
    dst2 = torch.repeat_interleave(torch.arange(seeds, seeds + first), degree2)
    nodes = seeds + first + int(len(dst2) * 0.8)
    src2 = torch.randint(0, nodes, (len(dst2),))
    edges = torch.stack([torch.cat([src, src2]), torch.cat([dst, dst2])])
    return torch.randn(nodes, features).to(DEVICE), edges.to(DEVICE)


class Net(torch.nn.Module):
    def __init__(self, make, features):
        super().__init__()
        self.layers = torch.nn.ModuleList([make(features), make(features)])

    def forward(self, x, edges):
        for layer in self.layers:
            x = layer(x, edges).relu()
        return x


def took(net, batches):
    def run():
        for x, edges in batches:
            edges = edges.clone()
            if batches[0][1] is not batches[-1][1]:
                edges[0, :8] = torch.randint(0, len(x), (8,), device=edges.device)   # never twice the same
            net(x, edges).sum().backward()
    run()
    best = float("inf")
    for _ in range(3):
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        begun = time.perf_counter()
        run()
        if DEVICE == "cuda":
            torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begun) / len(batches) * 1e3)
    return best


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seeds", type=int, nargs="+", default=[1024])
    p.add_argument("--batches", type=int, default=40)
    p.add_argument("--features", type=int, default=64)
    p.add_argument("--always", action="store_true", help="sort each batch, also where PyG's code is faster")
    o = p.parse_args()
    if o.always:
        gnnc._edge_indexes._MUCH = {"cuda": 0, "cpu": 0}
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    for seeds in o.seeds:
        compare([batch(seeds, o.features) for _ in range(max(o.batches * min(o.seeds) // seeds, 4))], o)


def compare(batches, o):
    kept = batches[:1] * len(batches)
    print("\n%d edges\n\n| layer | PyG, ms | gnnc | times | gnnc on one batch, again and again |" % batches[0][1].shape[1])
    print("|---|--:|--:|--:|--:|")
    for name, make in (("SAGE", lambda f: nn.SAGEConv(f, f)), ("GCN", lambda f: nn.GCNConv(f, f)), ("GAT", lambda f: nn.GATConv(f, f // 8, 8)),
                       ("GATv2", lambda f: nn.GATv2Conv(f, f // 8, 8))):
        net = Net(make, o.features).to(DEVICE)
        ours = gnnc.pyg.accelerate(copy.deepcopy(net))
        theirs, mine = took(net, batches), took(ours, batches)
        print("| %s | %.2f | %.2f | %.2f | %.2f |" % (name, theirs, mine, theirs / mine, took(ours, kept)), flush=True)


if __name__ == "__main__":
    main()
