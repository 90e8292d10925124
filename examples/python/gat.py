#!/usr/bin/env python3
"""A graph attention network of two layers, trained on Cora: the layer is four lines of gnnc, everything else is PyTorch.
Usage: gat.py cora.npz. Exit status 77: PyTorch is not installed."""
import sys

import numpy as np

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)
import gnnc

LAYER = gnnc.compile("""
op attend<T>(src: E -> U, dst: E -> V sorted, l: T[V, H], r: T[U, H], x: T[U, H, D]) -> (y: T[V, H, D]) {
    s[e, h] = leaky_relu(l[dst[e], h] + r[src[e], h], 0.2);
    a[e, h] = softmax(s[e, h] by dst);
    y[v, h, d] = sum{e : dst[e] == v} a[e, h] * x[src[e], h, d];
}
grad attend wrt (l, r, x);
""")


class Attention(torch.nn.Module):
    def __init__(self, inputs, heads, width):
        super().__init__()
        self.lin = torch.nn.Linear(inputs, heads * width, bias=False)
        self.left, self.right = (torch.nn.Parameter(torch.empty(heads, width)) for _ in range(2))
        for p in (self.lin.weight, self.left, self.right):
            torch.nn.init.xavier_uniform_(p)

    def forward(self, graph, x):
        x = self.lin(x).view(len(x), *self.left.shape)
        return LAYER.attend(graph, (x * self.left).sum(-1), (x * self.right).sum(-1), x)


def load(path):
    """The graph with self loops, features of rows that sum to 1, labels, and nodes to train on and to test."""
    z = np.load(path)
    nodes = len(z["rowptr"]) - 1
    dst = np.repeat(np.arange(nodes), np.diff(z["rowptr"]))
    graph = gnnc.Graph.of((torch.tensor(z["col"].astype(np.int64)), torch.tensor(dst)), nodes, self_loops=True)
    x = torch.zeros(nodes, int(z["x_dim"][0]))
    rows = np.repeat(np.arange(nodes), np.diff(z["x_indptr"]))
    x[torch.tensor(rows), torch.tensor(z["x_indices"].astype(np.int64))] = torch.tensor(z["x_data"])
    x = torch.nn.functional.normalize(x, p=1)
    return graph, x, torch.tensor(z["y"].astype(np.int64)), *(torch.tensor(z[k].astype(np.int64)) for k in ("train_idx", "test_idx"))


def main():
    torch.manual_seed(0)
    graph, x, y, train, test = load(sys.argv[1])
    first, second = Attention(x.shape[1], 8, 8), Attention(64, 1, int(y.max()) + 1)
    drop = torch.nn.Dropout(0.6)
    parameters = [*first.parameters(), *second.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=0.005, weight_decay=5e-4)

    def scores():
        return second(graph, drop(torch.nn.functional.elu(first(graph, drop(x)).flatten(1)))).squeeze(1)

    for epoch in range(100):
        loss = torch.nn.functional.cross_entropy(scores()[train], y[train])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    drop.eval()
    with torch.no_grad():
        print("loss %.3f, accuracy %.3f" % (loss.item(), (scores()[test].argmax(1) == y[test]).float().mean().item()))


if __name__ == "__main__":
    main()
