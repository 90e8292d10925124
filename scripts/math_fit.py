#!/usr/bin/env python3
"""Minimax polynomials of ir/math.simt: prints the coefficients of every fit, lowest power first, and its error.

Each row minimises the largest |w(x) (f(x) - P(x))| over an interval (Remez exchange in 200 bits). Coefficients are
rounded to f32 or f64 one after the other, lowest power first, and the rest is fitted again. Needs mpmath.
"""
import sys
import mpmath as mp

mp.mp.prec = 200
ONE = mp.mpf(1)


def rounded(x, bits):
    if not x:
        return mp.mpf(0)
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, bits)), e - bits)


def reference(errors, n):
    """Positions of n + 1 alternating extrema, or None."""
    ext = []
    for i, e in enumerate(errors):
        if ext and (e > 0) == (errors[ext[-1]] > 0):
            if abs(e) > abs(errors[ext[-1]]):
                ext[-1] = i
        else:
            ext.append(i)
    while len(ext) > n + 1:
        ext.pop(0 if abs(errors[ext[0]]) < abs(errors[ext[-1]]) else -1)
    return ext if len(ext) == n + 1 else None


def remez(f, w, powers, a, b, points=600):
    """(largest error, coefficients) of the best polynomial in the given powers."""
    grid = [(a + b) / 2 + (b - a) / 2 * mp.cos(mp.pi * (points - i) / points) for i in range(points + 1)]
    heaviest = max(w(x) for x in grid)
    grid = [x for x in grid if w(x) > heaviest * mp.mpf('1e-7')]
    values, weights, n = [f(x) for x in grid], [w(x) for x in grid], len(powers)
    at = [round(i * (len(grid) - 1) / n) for i in range(n + 1)]
    best = (mp.inf, [mp.mpf(0)] * n)
    for _ in range(12):
        rows = [[grid[i] ** p for p in powers] + [(-1) ** r / weights[i]] for r, i in enumerate(at)]
        try:
            s = mp.lu_solve(mp.matrix(rows), mp.matrix([values[i] for i in at]))
        except ZeroDivisionError:   # a symmetric reference of an odd problem
            break
        c = [s[i] for i in range(n)]
        errors = [wt * (v - mp.fsum(k * x ** p for k, p in zip(c, powers)))
                  for x, v, wt in zip(grid, values, weights)]
        largest = max(map(abs, errors))
        best = min(best, (largest, c), key=lambda t: t[0])
        at = reference(errors, n)
        if at is None or largest - abs(s[n]) < largest / 1000:
            break
    return best


def fit(f, w, degree, a, b, bits):
    fixed, todo, first, earlier = [], list(range(degree + 1)), None, None
    while todo:
        error, c = remez(lambda x: f(x) - mp.fsum(k * x ** p for p, k in enumerate(fixed)), w, todo, a, b)
        first = first or error
        if error > 3 * first:       # what is left is degenerate: keep the earlier solution
            return fixed + [rounded(k, bits) for k in earlier[1:]], first
        fixed.append(rounded(c[0], bits))
        todo, earlier = todo[1:], c
    return fixed, first


def near(x, f, limit, small='1e-12'):
    """f(x), or its expansion where f would cancel."""
    return f(x) if abs(x) > mp.mpf(small) else limit(x)


def rows():
    half_ln2 = mp.log(2) / 2 * mp.mpf('1.01')
    lo, hi = mp.sqrt(ONE / 2) - 1, mp.sqrt(mp.mpf(2)) - 1
    z_log = (hi / (2 + hi) * mp.mpf('1.001')) ** 2
    z_sin = (mp.pi / 4 * mp.mpf('1.002')) ** 2     # wider in f32, where x * 2/pi is rounded harder
    z_sin32 = (mp.pi / 4 * mp.mpf('1.012')) ** 2
    root = mp.sqrt
    expq = lambda r: near(r, lambda r: (mp.expm1(r) - r) / r ** 2, lambda r: ONE / 2 + r / 6)
    log3 = lambda f: near(f, lambda f: (mp.log1p(f) - f + f * f / 2) / f ** 3, lambda f: ONE / 3 - f / 4, '1e-10')
    logr = lambda z: near(z, lambda z: 2 * (mp.atanh(root(z)) / root(z) - 1) / z, lambda z: ONE * 2 / 3 + 2 * z / 5)
    logt = lambda z: near(z, lambda z: (mp.atanh(root(z)) / root(z) - 1 - z / 3 - z * z / 5) / z ** 3,
                          lambda z: ONE / 7 + z / 9 + z * z / 11, '1e-8')
    log2 = lambda f: near(f, lambda f: mp.log1p(f) / f / mp.log(2), lambda f: 1 / mp.log(2), '1e-25')
    sin3 = lambda z: near(z, lambda z: (mp.sin(root(z)) / root(z) - 1) / z, lambda z: -ONE / 6 + z / 120)
    cos4 = lambda z: near(z, lambda z: (mp.cos(root(z)) - 1 + z / 2) / z ** 2, lambda z: ONE / 24 - z / 720)
    tanh3 = lambda z: near(z, lambda z: (mp.tanh(root(z)) / root(z) - 1) / z, lambda z: -ONE / 3 + 2 * z / 15)
    atan3 = lambda z: near(z, lambda z: (mp.atan(root(z)) / root(z) - 1) / z, lambda z: -ONE / 3 + z / 5)
    erf1 = lambda z: near(z, lambda z: mp.erf(root(z)) / root(z) - 1, lambda z: 2 / root(mp.pi) * (1 - z / 3) - 1, '1e-24')
    tail = lambda x: mp.log(mp.erfc(x))
    flat, once, twice = (lambda x: ONE), abs, (lambda x: x * x)
    cube = lambda x: x ** 3
    return [
        ('exp_f32', expq, twice, 4, -half_ln2, half_ln2, 24), ('expm1_f32', expq, once, 5, -half_ln2, half_ln2, 24),
        ('log_f32 log1p_f32', log3, twice, 7, lo, hi, 24), ('tanh_f32', tanh3, once, 4, 0, mp.mpf('.36'), 24),
        ('erf_f32 near', erf1, flat, 6, 0, ONE, 24), ('erf_f32 far', tail, mp.erfc, 6, ONE, mp.mpf(4), 24),
        ('sin_f32', sin3, once, 2, 0, z_sin32, 24), ('cos_f32', cos4, twice, 2, 0, z_sin32, 24),
        ('pow_f32 log2', log2, flat, 12, lo, hi, 53),
        ('pow_f32 exp2', lambda r: mp.power(2, r), flat, 6, -ONE / 2, ONE / 2, 53),
        ('exp_sum_f64', expq, twice, 9, -half_ln2, half_ln2, 53), ('expm1_f64', expq, once, 10, -half_ln2, half_ln2, 53),
        ('log_series_f64', logr, once, 6, 0, z_log, 53), ('log_sum_f64', logt, cube, 6, 0, z_log, 53),
        ('tanh_f64', tanh3, once, 10, 0, mp.mpf('.36'), 53),
        ('erf_f64 near', erf1, flat, 11, 0, ONE, 53), ('erf_f64 far', tail, mp.erfc, 19, ONE, mp.mpf(6), 53),
        ('atan2_f32', atan3, once, 5, 0, ONE / 4, 24), ('atan2_f64', atan3, once, 11, 0, ONE / 4, 53),
        ('sin_f64', sin3, once, 5, 0, z_sin, 53), ('cos_f64', cos4, twice, 5, 0, z_sin, 53),
    ]


for name, f, w, degree, a, b, bits in rows():
    if len(sys.argv) > 1 and sys.argv[1] not in name:
        continue
    coefficients, error = fit(f, w, degree, mp.mpf(a), mp.mpf(b), bits)
    print('%s: 2^%.1f' % (name, mp.log(error, 2)), *(float(c) for c in coefficients))
