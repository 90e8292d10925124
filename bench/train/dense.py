#!/usr/bin/env python3
"""A graph convolutional network on a graph of many nodes with dense features: what bench/train/dense.c trains, in PyTorch Geometric.

    dense.py make NAME FILE.npz                     a graph of bench/family/graphs.py, with features, classes and a split, drawn
    dense.py train FILE.npz [--epochs=20]           ms an epoch and the most memory, by edge lists, by a sparse matrix, eager and compiled
"""
import argparse
import os
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "family"))
SIZES = {"arxiv": (128, 40), "products": (100, 47), "reddit": (602, 41), "tiny": (128, 40)}   # features, classes
HIDDEN = 128


def make(name, path):
    import graphs
    rowptr, col = graphs.make(name)
    features, classes = SIZES[name]
    nodes, rng = len(rowptr) - 1, np.random.default_rng(1)
    y = rng.integers(0, classes, nodes, dtype=np.int32)
    x = rng.standard_normal((nodes, features), dtype=np.float32)
    x[np.arange(nodes), y] += 1   # a class can be told by its feature
    order = rng.permutation(nodes).astype(np.int32)
    a, b = nodes // 2, nodes * 3 // 4
    np.savez(path, rowptr=rowptr, col=col, x=x, y=y, train_idx=np.sort(order[:a]), val_idx=np.sort(order[a:b]), test_idx=np.sort(order[b:]))


def train(path, epochs):
    import torch
    from torch_geometric.nn import GCNConv
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    with np.load(path) as z:
        rowptr, col = z["rowptr"], z["col"]
        t = {k: torch.tensor(z[k], device=device) for k in ("x", "y", "train_idx", "test_idx")}
    nodes, known, y = len(rowptr) - 1, t["train_idx"].long(), t["y"].long()
    dst = np.repeat(np.arange(nodes), np.diff(rowptr))
    edges = torch.tensor(np.stack([col.astype(np.int64), dst]), device=device)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = GCNConv(t["x"].shape[1], HIDDEN, cached=True), GCNConv(HIDDEN, int(y.max()) + 1, cached=True)

        def forward(self, graph):
            x = torch.relu(self.first(t["x"], graph))
            return self.second(torch.nn.functional.dropout(x, 0.5, self.training), graph)

    def sparse():
        from torch_geometric.utils import to_torch_csr_tensor
        return to_torch_csr_tensor(edges[[1, 0]], size=(nodes, nodes))   # rows are destinations

    for name, graph, compiled in (("edge list", lambda: edges, False), ("edge list, torch.compile", lambda: edges, True), ("sparse matrix", sparse, False)):
        try:
            torch.manual_seed(1)
            net = Net().to(device)
            given = graph()
            optimiser = torch.optim.Adam(net.parameters(), lr=0.01)

            def step():
                optimiser.zero_grad(set_to_none=True)
                loss = torch.nn.functional.cross_entropy(net(given)[known], y[known])
                loss.backward()
                return loss
            run = torch.compile(step) if compiled else step
            for epoch in range(5):
                run()
                optimiser.step()
            wait()
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            begin = time.perf_counter()
            for epoch in range(epochs):
                loss = run()
                optimiser.step()
            wait()
            spent = 1e3 * (time.perf_counter() - begin) / epochs
            memory = torch.cuda.max_memory_allocated() / 1e6 if device == "cuda" else 0
            print("%-26s %9.3f ms an epoch, at most %.0f MB, loss %.4f" % (name, spent, memory, loss.item()), flush=True)
        except Exception as fault:
            print("%-26s %s: %s" % (name, type(fault).__name__, str(fault).splitlines()[0][:120] if str(fault) else ""), flush=True)
        del net, given, optimiser
        if device == "cuda":
            torch.cuda.empty_cache()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=("make", "train"))
    p.add_argument("words", nargs="+")
    p.add_argument("--epochs", type=int, default=20)
    o = p.parse_args()
    make(*o.words) if o.what == "make" else train(o.words[0], o.epochs)


main()
