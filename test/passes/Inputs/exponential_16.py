#!/usr/bin/env python3
"""Exponentials of all f16 numbers against those in f64. Usage: exponential_16.py ARGUMENTS.npy RESULTS.npy"""
import sys

import numpy as np

x, y = (np.load(p).astype(np.float64).ravel() for p in sys.argv[1:3])
with np.errstate(over="ignore"):
    exact = np.exp(x)
finite = np.isfinite(x) & (exact < 65520)
bound = (np.abs(x) * 2.0**-10 + 2.0**-9) * exact + 2.0**-24
off = np.abs(y - exact)
near = np.isfinite(y) | (exact * (1 + np.abs(x) * 2.0**-10 + 2.0**-9) >= 65520)
if not (near[finite].all() and (off <= bound)[finite & np.isfinite(y)].all()):
    worst = np.argmax(np.where(finite & np.isfinite(y), off / bound, 0))
    sys.exit("exp(%r) is %r, not %r" % (x[worst], y[worst], exact[worst]))
if not (np.isnan(y[np.isnan(x)]).all() and np.isinf(y[exact > 66000]).all()):
    sys.exit("a result is not what it is beyond the range")
