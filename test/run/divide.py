#!/usr/bin/env python3
"""Division of f32 on a target gives numpy's bits, NaN payloads apart: divide.py GNNC TARGET PAIRS

Operands are random bit patterns, numbers next to powers of two, zeros, infinities, NaN, the least and the largest, and quotients
that lie next to the middle of two floats.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

OP = "op quotient(dst: E -> V, a: f32[E], b: f32[E]) -> (q: f32[E]) { q[e] = a[e] / b[e]; }\n"


def operands(n, rng):
    bits = rng.integers(0, 1 << 32, size=(4, n), dtype=np.uint64).astype(np.uint32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754944e-38, 1.1754942e-38, 3.4028235e38, 1.0, -1.0, 3.0, 2.0**-100,
                        2.0**60, 2.0**-60, 2.0**24, np.nextafter(np.float32(1), np.float32(2)), 16777215.0, 0.1], np.float32)
    x, y = np.meshgrid(special, special)
    near = (bits[0] & np.uint32(0xff80000f)).view(np.float32), (bits[1] & np.uint32(0xff8000ff)).view(np.float32)
    small = np.ldexp((bits[2] >> 8).astype(np.float32), -24), np.ldexp((bits[3] >> 8 | 1).astype(np.float32), -20)
    with np.errstate(all="ignore"):
        half = (small[1] * (small[0] + np.float32(2.0**-24))).astype(np.float32), small[1]
        least = np.ldexp(small[0], -126).astype(np.float32), small[1]
    pairs = [(x.ravel(), y.ravel()), (bits[0].view(np.float32), bits[1].view(np.float32)), near, small, half, least]
    return np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])


def main():
    gnnc, target, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    a, b = operands(n, np.random.default_rng(7))
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)
        with open(path("q.gnn"), "w", encoding="utf-8") as f:
            f.write(OP)
        np.save(path("a.npy"), a)
        np.save(path("b.npy"), b)
        np.savez(path("g.npz"), rowptr=np.array([0, len(a)], np.int64), col=np.zeros(len(a), np.int64))
        r = subprocess.run([gnnc, "run", path("q.gnn"), "--target=" + target, "--graph=" + path("g.npz"), "--param=a=" + path("a.npy"), "--param=b=" + path("b.npy"), "--out=" + folder], capture_output=True, text=True)
        if r.returncode:
            sys.exit(r.stdout + r.stderr)
        got = np.load(path("quotient.q.npy"))
    with np.errstate(all="ignore"):
        want = a / b
    differ = np.flatnonzero((got.view(np.uint32) != want.view(np.uint32)) & ~(np.isnan(got) & np.isnan(want)))
    for k in differ[:10]:
        print("%r / %r = %r, not %r" % (a[k], b[k], want[k], got[k]))
    print("%d of %d quotients differ" % (len(differ), len(a)))
    return len(differ) > 0


if __name__ == "__main__":
    sys.exit(main())
