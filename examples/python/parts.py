#!/usr/bin/env python3
"""GAT and GraphSAGE trained full-batch on Cora, cut into a part a process, beside the same in one process.
Usage: parts.py cora.npz [PROCESSES]. On GPUs, a process each, where there are enough; else on the host. Exit status 77: no PyTorch."""
import os
import sys
import tempfile

import numpy as np

try:
    import torch
    import torch.distributed as dist
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)
import gnnc
from gnnc import distributed

EPOCHS = 60
LAYERS = gnnc.compile("""
op attend(src: E -> U, dst: E -> V sorted, l: f32[V, H], r: f32[U, H], x: f32[U, H, D]) -> (y: f32[V, H, D]) {
    a[e, h] = softmax(leaky_relu(l[dst[e], h] + r[src[e], h], 0.2) by dst);
    y[v, h, d] = sum{e : dst[e] == v} a[e, h] * x[src[e], h, d];
}
op average(src: E -> U, dst: E -> V sorted, x: f32[U, K]) -> (y: f32[V, K]) { y[v, k] = mean{e : dst[e] == v} x[src[e], k]; }
grad attend;
grad average;
""")


class GAT(torch.nn.Module):
    def __init__(self, inputs, heads, width):
        super().__init__()
        self.lin = torch.nn.Linear(inputs, heads * width, bias=False)
        self.left, self.right = (torch.nn.Parameter(torch.randn(heads, width) / width ** 0.5) for _ in range(2))

    def forward(self, part, x):
        x = self.lin(x).view(len(x), *self.left.shape)
        all_rows = exchange(x, part)   # the one line that knows of others
        src, dst = part.edges
        return LAYERS.attend(src, dst, (x * self.left).sum(-1), (all_rows * self.right).sum(-1), all_rows).flatten(1)


class SAGE(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.others = torch.nn.Linear(inputs, outputs), torch.nn.Linear(inputs, outputs, bias=False)

    def forward(self, part, x):
        src, dst = part.edges
        return self.own(x) + LAYERS.average(src, dst, exchange(self.others(x), part), V=part.owned)


def exchange(x, part):
    return x if part.parts == 1 else distributed.exchange(x, part)


def load(path):
    """Edges with self loops, features of rows that sum to 1, labels, and the nodes to train on and to test."""
    z = np.load(path)
    nodes = len(z["rowptr"]) - 1
    dst = torch.tensor(np.repeat(np.arange(nodes), np.diff(z["rowptr"])))
    edges = torch.stack([torch.tensor(z["col"].astype(np.int64)), dst])
    edges = torch.cat([edges, torch.arange(nodes).repeat(2, 1)], 1)
    x = torch.zeros(nodes, int(z["x_dim"][0]))
    rows = torch.tensor(np.repeat(np.arange(nodes), np.diff(z["x_indptr"])))
    x[rows, torch.tensor(z["x_indices"].astype(np.int64))] = torch.tensor(z["x_data"])
    told = [torch.tensor(z[k].astype(np.int64)) for k in ("y", "train_idx", "test_idx")]
    return edges, torch.nn.functional.normalize(x, p=1), *told


def fit(kind, part, x, y, train, test, total):
    """The losses of each epoch, and the accuracy. total: adds a tensor of all processes."""
    torch.manual_seed(0)
    classes = int(y.max()) + 1
    layers = [GAT(x.shape[1], 8, 8), GAT(64, 1, classes)] if kind == "GAT" else [SAGE(x.shape[1], 64), SAGE(64, classes)]
    model = torch.nn.ModuleList(layers).to(x.device)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    own = part.ids[:part.owned]
    x, y = x[own], y[own]
    train, test = (torch.isin(own, t) for t in (train, test))
    share, losses = 1 / total(train.sum()).item(), []
    for epoch in range(EPOCHS):
        scores = model[1](part, torch.nn.functional.elu(model[0](part, x)))
        loss = torch.nn.functional.cross_entropy(scores[train], y[train], reduction="sum") * share
        optimiser.zero_grad()
        loss.backward()
        for p in model.parameters():   # each process has its rows' share
            p.grad = total(p.grad)
        optimiser.step()
        losses.append(total(loss.detach()).item())
    right = total((scores.argmax(1) == y)[test].sum()).item()
    return losses, right / total(test.sum()).item()


def on(part, device):
    part = part.to(device)
    part.edges = part.edge_index.int()
    return part


def work(rank, ranks, path, folder):
    gpus = torch.cuda.device_count() >= ranks
    device = "cuda:%d" % rank if gpus else "cpu"
    if gpus:
        torch.cuda.set_device(rank)
    torch.set_num_threads(1)
    dist.init_process_group("nccl" if gpus else "gloo", init_method="file://%s/meeting" % folder, rank=rank, world_size=ranks)
    edges, *given = load(path)
    given = [t.to(device) for t in given]

    def total(t):
        dist.all_reduce(t)
        return t

    part = on(distributed.partition(edges, ranks, "hash", len(given[0]))[rank], device)
    distributed.join(part)
    whole = on(distributed.partition(edges, 1, "block", len(given[0]))[0], device)
    for kind in ("GAT", "SAGE"):
        losses, accuracy = fit(kind, part, *given, total)
        alone, _ = fit(kind, whole, *given, lambda t: t)
        if rank == 0:
            apart = max(abs(a - b) / a for a, b in zip(alone, losses))
            print("%s in %d processes: losses differ from those of one by %.1e, accuracy %.3f" % (kind, ranks, apart, accuracy), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as place:
        torch.multiprocessing.spawn(work, (processes, os.path.abspath(sys.argv[1]), place), nprocs=processes)
