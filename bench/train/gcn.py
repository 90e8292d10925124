#!/usr/bin/env python3
"""Trains the network of examples/train/gcn.gnn in PyTorch: with PyTorch Geometric's GCNConv, eager and by torch.compile.

    gcn.py GRAPH [--seeds=3] [--epochs=200]

Prints milliseconds an epoch (forward, loss, backward, Adam), the test accuracy, and the most memory that was allocated.
"""
import argparse
import time

import numpy as np
import torch
from torch_geometric.nn import GCNConv


class Net(torch.nn.Module):
    def __init__(self, words, classes):
        super().__init__()
        self.first, self.second = GCNConv(words, 16, cached=True), GCNConv(16, classes, cached=True)

    def forward(self, x, edges):
        x = torch.nn.functional.dropout(x, 0.5, self.training)
        x = torch.relu(self.first(x, edges))
        x = torch.nn.functional.dropout(x, 0.5, self.training)
        return self.second(x, edges)


def load(path, device):
    with np.load(path) as z:
        n, words = len(z["rowptr"]) - 1, int(z["x_dim"][0])
        dst = np.repeat(np.arange(n), np.diff(z["rowptr"]))
        x = np.zeros((n, words), np.float32)
        x[np.repeat(np.arange(n), np.diff(z["x_indptr"])), z["x_indices"]] = 1
        x /= np.maximum(x.sum(1, keepdims=True), 1)
        edges = torch.tensor(np.stack([z["col"], dst]), dtype=torch.int64, device=device)
        t = lambda a: torch.tensor(np.asarray(a, np.int64), device=device)
        return torch.tensor(x, device=device), edges, t(z["y"]), t(z["train_idx"]), t(z["test_idx"])


def train(data, seed, epochs, compiled, device):
    x, edges, y, known, test = data
    torch.manual_seed(seed)
    net = Net(x.shape[1], int(y.max()) + 1).to(device)
    optimiser = torch.optim.Adam([{"params": net.first.parameters(), "weight_decay": 5e-4}, {"params": net.second.parameters()}], lr=0.01)

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(x, edges)[known], y[known])
        loss.backward()
        return loss
    run = torch.compile(step, mode="default") if compiled else step
    net.train()
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    spent = 0
    for epoch in range(epochs):
        if epoch == epochs // 2:   # the second half is timed
            wait()
            spent = -time.perf_counter()
        run()
        optimiser.step()
    wait()
    spent += time.perf_counter()
    net.eval()
    with torch.no_grad():
        right = (net(x, edges)[test].argmax(1) == y[test]).float().mean().item()
    return 1e3 * spent / (epochs - epochs // 2), 100 * right


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("graph")
    p.add_argument("--seeds", type=int, default=3)
    p.add_argument("--epochs", type=int, default=200)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    o = p.parse_args()
    data = load(o.graph, o.device)
    for name, compiled in (("PyTorch Geometric", False), ("torch.compile", True)):
        try:
            runs = [train(data, seed, o.epochs, compiled, o.device) for seed in range(o.seeds)]
        except Exception as fault:
            print("%-18s %s: %s" % (name, type(fault).__name__, str(fault).splitlines()[0][:100]))
            continue
        memory = torch.cuda.max_memory_allocated() / 1e6 if o.device == "cuda" else 0
        print("%-18s %.3f ms an epoch, test accuracy %.1f, at most %.0f MB" % (name, min(r[0] for r in runs), np.mean([r[1] for r in runs]), memory))


main()
