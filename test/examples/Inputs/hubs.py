#!/usr/bin/env python3
"""Writes a graph with degrees as Reddit's: 24,000 nodes of four classes, of which one has 21,657 neighbours of any class and 200 have
2,000 to 5,500 of their own; the others have four of their own, too. A node has eight of 64 words, more of its class's 16.
Usage: hubs.py OUT.npz"""
import sys

import numpy as np

NODES, HUBS, CLASSES, WORDS = 24000, 201, 4, 64
rng = np.random.default_rng(1)
nodes = np.arange(NODES)
y = nodes % CLASSES


def joined(hub):   # none but its own neighbours to the first
    of = nodes[1:] if not hub else nodes[(y == y[hub]) & (nodes != hub) & (nodes != 0)]
    some = rng.choice(of, rng.integers(2000, 5501) if hub else 21657, replace=False)
    return np.stack([np.full(len(some), hub), some])


def ints(a):
    return np.asarray(a, np.int32)


plain = nodes[HUBS:-2 * CLASSES]
u, v = np.concatenate([joined(h) for h in range(HUBS)] + [np.stack([plain, plain + k * CLASSES]) for k in (1, 2)], axis=1)
edges = np.unique(np.concatenate([u * NODES + v, v * NODES + u]))   # both directions, by destination, each once
dst, src = edges // NODES, edges % NODES
likely = rng.random((NODES, WORDS)) + 0.4 * (np.arange(WORDS) % CLASSES == y[:, None])
words = np.sort(np.argsort(-likely)[:, :8])
split = rng.permutation(NODES)
np.savez(sys.argv[1], rowptr=ints(np.searchsorted(dst, np.arange(NODES + 1))), col=ints(src), y=ints(y),
         train_idx=ints(np.sort(split[:2000])), val_idx=ints(np.sort(split[2000:3000])), test_idx=ints(np.sort(split[3000:5000])),
         x_indptr=ints(np.arange(NODES + 1) * 8), x_indices=ints(words.ravel()), x_data=np.ones(words.size, np.float32),
         x_dim=ints([WORDS]))
degrees = np.bincount(dst)
print("%d nodes, %d edges, at most %d of a node, %d nodes of thousands"
      % (NODES, len(dst), degrees.max(), (degrees >= 2000).sum()))
