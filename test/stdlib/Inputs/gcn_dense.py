#!/usr/bin/env python3
"""gcn_dense.py PREFIX GNNC FILE: the library's gcn beside D^-1/2 (A + I) D^-1/2 X W + b, where D sums the rows of A + I."""
import subprocess
import sys

import numpy as np

prefix, gnnc, ops = sys.argv[1:]
r = np.random.default_rng(1)
N, K, F = 12, 5, 3
src, dst = r.integers(0, N, 40), np.sort(r.integers(0, N, 40))
src, dst = src[src != dst], dst[src != dst]
arrays = {"w": r.random(len(src)), "x": r.standard_normal((N, K)), "wt": r.standard_normal((K, F)), "b": r.standard_normal(F)}
arrays = {name: a.astype(np.float32) for name, a in arrays.items()}
np.savez(prefix + ".npz", rowptr=np.concatenate([[0], np.bincount(dst, minlength=N).cumsum()]), col=src)
command = [gnnc, "run", ops, "--op=gcn", "--graph=" + prefix + ".npz", "--target=host", "--out=" + prefix + ".out"]
for name, a in arrays.items():
    np.save("%s.%s.npy" % (prefix, name), a)
    command.append("--param=%s=%s.%s.npy" % (name, prefix, name))
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
a = np.eye(N)
np.add.at(a, (dst, src), arrays["w"].astype(float))
scale = a.sum(1) ** -0.5
want = scale[:, None] * a * scale @ (arrays["x"].astype(float) @ arrays["wt"]) + arrays["b"]
worst = abs(np.load(prefix + ".out/gcn_f32.y.npy") - want).max()
print("gcn: within 1e-6" if worst < 1e-6 else "gcn: off by %g" % worst)
