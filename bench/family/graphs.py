"""Seeded graphs of the sizes and degrees of well-known ones: rowptr and col, edges sorted by destination, none twice.

A draw is a hash of a seed and a place, so NumPy and PyTorch, on whatever device, make the same graph. Nodes are numbered at
random (but for the grid and the batch), so neighbours lie as far apart as those of an unordered graph.
Usage: graphs.py FOLDER NAME... writes FOLDER/NAME.npz"""
import math
import os
import sys
import time

import numpy as np

# Nodes, edges; of a skewed one the expected largest degree.
SPECS = {
    "arxiv": ("skewed", dict(nodes=169_343, edges=1_166_243, most=13_155)),
    "reddit2": ("skewed", dict(nodes=232_965, edges=23_213_838, most=8_192)),
    "reddit": ("skewed", dict(nodes=232_965, edges=114_615_892, most=21_657)),
    "products": ("skewed", dict(nodes=2_449_029, edges=61_859_140, most=17_481)),
    "kron21": ("rmat", dict(scale=21, edges=67_108_864)),
    "road": ("grid", dict(side=1_404, edges=5_533_214)),
    "pattern1024": ("batch", dict(graphs=1024, nodes=119, edges=6_079)),
    "tiny": ("skewed", dict(nodes=300, edges=2_000, most=100)),   # for tests, and for the simulator the next
    "small": ("skewed", dict(nodes=4_000, edges=40_000, most=600)),
    "regular": ("batch", dict(graphs=16, nodes=119, edges=3_000)),
}


def device():
    """Where graphs are made: PyTorch on a GPU where there is one, else NumPy."""
    try:
        import torch
    except ImportError:
        return np, {}
    return (torch, {"device": "cuda"}) if torch.cuda.is_available() else (np, {})


class Draws:
    """Numbers by seed and place. int64 throughout: PyTorch has no uint64 arithmetic; shifts are made logical."""

    def __init__(self, seed, on):
        self.xp, self.where = on
        self.seed = seed

    def range(self, n):
        return self.xp.arange(n, dtype=self.xp.int64, **self.where)

    def words(self, n, stream):
        begin = (self.seed * 1_000_003 + stream) * 7046029254386353087 & (1 << 64) - 1
        z = (self.range(n) + 1) * -7046029254386353131 + (begin - (begin >> 63 << 64))
        for shift, factor in ((30, -4658895280553007687), (27, -7723592293110705685)):   # splitmix64's finaliser
            z = (z ^ (z >> shift & (1 << 64 - shift) - 1)) * factor
        return z ^ (z >> 31 & (1 << 33) - 1)

    def below(self, n, most, stream):
        return (self.words(n, stream) & (1 << 52) - 1) % most

    def permutation(self, n, stream):
        return self.words(n, stream).argsort()


def thinned(d, keys, edges):
    """Of sorted keys so many, evenly spread."""
    k = len(keys)
    at = d.range(k) * edges
    return keys[(at + edges) // k > at // k] if k > edges else keys


def distinct(d, draw, edges):
    keys, stream, count = None, 0, edges + edges // 8
    while keys is None or len(keys) < edges:
        drawn = draw(count, stream)
        keys = d.xp.unique(drawn if keys is None else d.xp.concatenate([keys, drawn]))
        count, stream = 2 * max(edges - len(keys), 0) + 1024, stream + 100
    return thinned(d, keys, edges)


def skewed(d, nodes, edges, most):
    """Both ends of an edge are drawn with weights 1 / (rank + c), where c makes the largest degree as large as said."""
    low, high = 1e-6, 1e12
    for _ in range(200):
        c = math.sqrt(low * high)
        low, high = (low, c) if edges / c / math.log((nodes + c) / c) < most else (c, high)
    cdf = (1 / (np.arange(nodes) + c)).cumsum()
    steps = (cdf / cdf[-1] * (1 << 52)).astype(np.int64)   # whole numbers, so that no library rounds otherwise
    if d.xp is not np:
        steps = d.xp.from_numpy(steps).to(**d.where)
    number = d.permutation(nodes, 1)

    def end(count, stream):
        at = d.xp.searchsorted(steps, d.words(count, stream) & (1 << 52) - 1)
        return number[at.clip(0, nodes - 1)]
    return nodes, distinct(d, lambda n, s: end(n, s + 2) * nodes + end(n, s + 3), edges)


def rmat(d, scale, edges, a=0.57, b=0.19, c=0.19):
    """Recursive quadrants (Chakrabarti, Zhan and Faloutsos 2004) with the probabilities of Graph500; 16 bits a level."""
    number = d.permutation(1 << scale, 1)
    limits = [int(x * 65536) for x in (a, a + b, a + b + c)]

    def draw(count, stream):
        row, col = d.range(count) * 0, d.range(count) * 0
        for level in range(scale):
            if level % 4 == 0:
                words = d.words(count, stream + 2 + level)
            z = words >> 16 * (level % 4) & 65535
            right = ((z >= limits[0]) & (z < limits[1])) | (z >= limits[2])
            row, col = row * 2 + (z >= limits[1]), col * 2 + right
        return number[row] * (1 << scale) + number[col]
    return 1 << scale, distinct(d, draw, edges)


def grid(d, side, edges):
    """Neighbours in a square, both directions of an edge or none."""
    at = d.range(side * side).reshape(side, side)
    u = d.xp.concatenate([at[:, :-1].reshape(-1), at[:-1].reshape(-1)])
    v = d.xp.concatenate([at[:, 1:].reshape(-1), at[1:].reshape(-1)])
    keep = d.permutation(len(u), 1)[:edges // 2]
    u, v, n = u[keep], v[keep], side * side
    return n, d.xp.unique(d.xp.concatenate([u * n + v, v * n + u]))


def batch(d, graphs, nodes, edges):
    """As many graphs of as many random edges each, one after the other."""
    cells = d.words(graphs * nodes * nodes, 1).reshape(graphs, -1).argsort(1)[:, :edges]
    n, base = graphs * nodes, d.range(graphs).reshape(-1, 1) * nodes
    return n, d.xp.unique(((cells // nodes + base) * n + cells % nodes + base).reshape(-1))


def make(name, seed=1, on=None):
    """rowptr and col as NumPy arrays of int32."""
    kind, sizes = SPECS[name]
    d = Draws(seed, on or device())
    nodes, keys = globals()[kind](d, **sizes)
    rows = keys // nodes
    degree = d.xp.bincount(rows, minlength=nodes)
    rowptr, col = degree.cumsum(0), keys - rows * nodes
    if d.xp is not np:
        rowptr, col = rowptr.cpu().numpy(), col.cpu().numpy()
    return np.concatenate([[0], rowptr]).astype(np.int32), col.astype(np.int32)


def path_of(name, folder, data=None):
    """A file of the graph, made where there is none; one of `data` goes first."""
    given = data and os.path.join(data, name + ".npz")
    if given and os.path.exists(given):
        return given
    if name not in SPECS:
        sys.exit("no graph is called %s; there are %s, and the files of --data" % (name, ", ".join(SPECS)))
    path = os.path.join(folder, name + ".npz")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        rowptr, col = make(name)
        np.savez(path + ".part.npz", rowptr=rowptr, col=col)
        os.rename(path + ".part.npz", path)
    return path


def size_of(path):
    with np.load(path) as z:
        return len(z["rowptr"]) - 1, len(z["col"])


if __name__ == "__main__":
    for graph in sys.argv[2:]:
        start = time.time()
        with np.load(path_of(graph, sys.argv[1])) as z:
            degrees = np.diff(z["rowptr"])
            print("%-12s %9d nodes %9d edges, degree %5.1f at most %6d, %5.1f%% empty (%.1f s)" % (
                graph, len(degrees), len(z["col"]), degrees.mean(), degrees.max(), 100 * (degrees == 0).mean(), time.time() - start))
