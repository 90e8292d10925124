#!/usr/bin/env python3
"""PyG's GAT on Cora, trained as PyG runs it and by gnnc.pyg: the same model, made faster by one line, has the same losses.
Usage: accelerated.py cora.npz. Exit status 77: PyTorch or PyG is not installed."""
import copy
import os
import sys

try:
    import torch
    from torch_geometric.nn import GAT
except ImportError:
    print("PyTorch or PyG is not installed")
    sys.exit(77)
import gnnc.pyg

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gat import load   # noqa: E402


def losses(model, x, edges, y, train, test):
    """Of 15 epochs, and the accuracy after them."""
    torch.manual_seed(1)   # of dropout
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
    made = []
    for _ in range(15):
        model.train()
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x, edges)[train], y[train])
        loss.backward()
        optimiser.step()
        made.append(loss.item())
    model.eval()
    with torch.no_grad():
        return made, (model(x, edges)[test].argmax(1) == y[test]).double().mean().item()


def main():
    graph, x, y, train, test = load(sys.argv[1])
    edges = torch.stack([graph.src, graph.dst])
    torch.manual_seed(0)
    theirs = GAT(x.shape[1], 64, 2, out_channels=int(y.max()) + 1, heads=8, dropout=0.6)
    ours = gnnc.pyg.accelerate(copy.deepcopy(theirs))
    a, _ = losses(theirs, x, edges, y, train, test)
    b, accuracy = losses(ours, x, edges, y, train, test)
    print("losses differ by %.1e, accuracy %.3f" % (max(abs(p - q) for p, q in zip(a, b)), accuracy))


if __name__ == "__main__":
    main()
