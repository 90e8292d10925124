"""Functions of numbers and their derivatives over the whole range of each type, beside mpmath.

    prelude.py GNNC FOLDER TARGET TYPE...

Each function is an op of one vector, and its gradient another. The vector holds zeros, infinities, subnormals, the largest
numbers and a sweep between. A result may be off by the roundings its row says; where the type cannot hold what is right, it
is infinite or the largest. Where mathematics has no value, any is right.
"""
import itertools
import os
import random
import subprocess
import sys

import mpmath as mp
import numpy as np

mp.mp.prec = 100
NAN, ZERO, ONE = mp.nan, mp.mpf(0), mp.mpf(1)
LINE = mp.mpf("0.044715")


class Type:
    def __init__(self, name, bits, least, end, stored):
        self.name, self.bits, self.least, self.end, self.stored = name, bits, least, end, stored
        self.largest = 2.0 ** (end - 1) * (2 - 2.0 ** (1 - bits))

    def unit(self, x):   # in the last place
        e = mp.frexp(x)[1] if x and mp.isfinite(x) else self.least
        return mp.ldexp(1, max(e - self.bits, self.least))


F64, F32 = Type("f64", 53, -1074, 1024, np.float64), Type("f32", 24, -149, 128, np.float32)
BF16, F16 = Type("bf16", 8, -133, 128, np.float32), Type("f16", 11, -24, 16, np.float16)
TYPES = {t.name: t for t in (F64, F32, BF16, F16)}


# ---- What is right -------------------------------------------------------------------------------------------------
def exp(x):   # beyond any type soon enough
    return ZERO if x < -5000 else mp.ldexp(1, 5000) if x > 5000 and mp.isfinite(x) else mp.exp(x)


def times(x, y):   # what decays to 0 wins
    return ZERO if y == 0 else x * y


def sigmoid(x):
    return 1 / (1 + exp(-x)) if x > 0 else exp(x) / (1 + exp(x))


def d_sigmoid(x):
    e = exp(-abs(x))
    return e / (1 + e) ** 2


def share(x):   # of a normal distribution
    return mp.erfc(-x / mp.sqrt(2)) / 2 if x > -100 else ZERO


def bell(x):
    return exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def cubic(x):
    return mp.sqrt(8 / mp.pi) * (x + LINE * x**3)


def d_cubic(x):
    return mp.sqrt(8 / mp.pi) * (1 + 3 * LINE * x**2)


def expm1(x):
    return mp.expm1(x) if abs(x) < 1 else exp(x) - 1


def power(a, b):
    if b == 0 or a == 1:
        return ONE
    if a < 0 or mp.isinf(b) or mp.isinf(a):
        return mp.mpf(float(a) ** float(b)) if a >= 0 or b == mp.floor(b) and abs(b) < 30 else NAN
    return exp(b * mp.log(a)) if a else ZERO if b > 0 else mp.inf


def d_power(a, b):   # what divides by a subnormal number may be infinite on the way
    alone = 0 < a < mp.ldexp(1, -126) and abs(b) > mp.ldexp(1, -54)
    return ZERO if b == 0 else NAN if a < 0 or alone else b * power(a, b - 1)


def d_exponent(a, b):
    p = power(a, b)
    return ZERO if p == 0 or a == 0 and b == 0 else NAN if a < 0 else p * mp.log(a)


def angle(a, b):
    return NAN if a == 0 and b <= 0 else mp.atan2(a, b)   # the sign of the zero tells: math_ulp.c


def real(f):
    return lambda x: f(x) if abs(x) <= 1 else NAN


def ratio(a, b):
    return ZERO if b == 0 else a / b


def shifted(x, m):
    return ZERO if m == -mp.inf else exp(x - m)


def rescale(m, to):
    return ONE if m == to else exp(m - to)


def slope_of_rescale(m, to):
    return NAN if m == to and mp.isinf(m) else rescale(m, to)


def sign(x):
    return ONE if x > 0 else -ONE if x < 0 else ZERO


def tie(better, x, y):
    return mp.mpf(1 if better else 0.5 if x == y else 0)


def inside(x):
    return ONE if -1 <= x <= 1 else ZERO


class Row:
    """An expression; its value and derivatives; roundings of the value, and of what it is made of: the scale."""

    def __init__(self, text, value, slopes, roundings=2, scale=None, slope_scale=None):
        self.text, self.value, self.slopes = text, value, slopes
        self.roundings, self.scale, self.slope_scale = roundings, scale, slope_scale
        self.names = ["x", "y"][: len(slopes)]


def one(text, value, slope, *more):
    return Row(text, value, [slope], *more)


def log_scale(f):   # what rounding an exponent costs
    return lambda x, y: abs(f(x, y) * (x - y))


def power_scale(a, b):
    p = power(a, b - 1)
    return ZERO if a <= 0 or p == 0 else abs(b * p * (b - 1) * mp.log(a))


ROWS = {
    "abs": one("abs(x[n])", abs, sign, 0),
    "sq": one("sq(x[n])", lambda x: x * x, lambda x: 2 * x, 1),
    "sqrt": one("sqrt(x[n])", mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x))),
    "rsqrt": one("rsqrt(x[n])", lambda x: 1 / mp.sqrt(x), lambda x: -1 / (2 * x * mp.sqrt(x)), 6),
    "root": one("root(x[n])", mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)) if x else ZERO),
    "inverse": one("inverse(x[n])", lambda x: 1 / x if x else ZERO, lambda x: -1 / x**2 if x else ZERO),
    "relu": one("relu(x[n])", lambda x: max(x, ZERO), lambda x: mp.mpf(x > 0), 0),
    "leaky_relu": one("leaky_relu(x[n], 0.25)", lambda x: x if x > 0 else x / 4, lambda x: ONE if x > 0 else ONE / 4, 1),
    "elu": one("elu(x[n])", lambda x: x if x > 0 else expm1(x), lambda x: ONE if x > 0 else exp(x)),
    "sigmoid": one("sigmoid(x[n])", sigmoid, d_sigmoid, 6),
    "silu": one("silu(x[n])", lambda x: times(x, sigmoid(x)), lambda x: sigmoid(x) + times(x, d_sigmoid(x)), 6,
                None, lambda x: sigmoid(x) + abs(times(x, d_sigmoid(x)))),
    "softplus": one("softplus(x[n])", lambda x: max(x, ZERO) + mp.log1p(exp(-abs(x))), sigmoid, 4),
    "gelu": one("gelu(x[n])", lambda x: times(x, share(x)), lambda x: share(x) + times(x, bell(x)), 2,
                lambda x: min(abs(x), 100), lambda x: 1 + abs(times(x, x * bell(x)))),
    "gelu_tanh": one("gelu_tanh(x[n])", lambda x: times(x, sigmoid(cubic(x))),
                     lambda x: sigmoid(cubic(x)) + times(x * d_cubic(x), d_sigmoid(cubic(x))), 6,
                     lambda x: abs(times(x * cubic(x), sigmoid(cubic(x)) * sigmoid(-cubic(x)))),
                     lambda x: abs(times(x * cubic(x) * d_cubic(x), d_sigmoid(cubic(x)))) + sigmoid(cubic(x))),
    "exp": one("exp(x[n])", exp, exp),
    "expm1": one("expm1(x[n])", expm1, exp),
    "log": one("log(x[n])", mp.log, lambda x: 1 / x),
    "log1p": one("log1p(x[n])", mp.log1p, lambda x: 1 / (1 + x)),
    "tanh": one("tanh(x[n])", mp.tanh, lambda x: 4 * d_sigmoid(2 * x), 2, None, lambda x: ONE),
    "erf": one("erf(x[n])", mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * exp(-x * x), 2, None,
               lambda x: times(x * x, exp(-x * x))),
    "sin": one("sin(x[n])", mp.sin, mp.cos),
    "cos": one("cos(x[n])", mp.cos, lambda x: -mp.sin(x)),
    "tan": one("tan(x[n])", mp.tan, lambda x: 1 / mp.cos(x) ** 2, 4, lambda x: abs(mp.tan(x)), lambda x: 1 / mp.cos(x) ** 2),
    "atan": one("atan(x[n])", mp.atan, lambda x: 1 / (1 + x * x), 2),
    "asin": one("asin(x[n])", real(mp.asin), real(lambda x: 1 / mp.sqrt(1 - x * x) if abs(x) < 1 else mp.inf * ONE), 6),
    "acos": one("acos(x[n])", real(mp.acos), real(lambda x: -1 / mp.sqrt(1 - x * x) if abs(x) < 1 else -mp.inf * ONE), 6),
    "clamp": one("clamp(x[n], -1, 1)", lambda x: max(min(x, ONE), -ONE), inside, 0),
    "dropout": one("dropout(x[n], 0.25, 0.5)", lambda x: x / 0.75, lambda x: 1 / mp.mpf(0.75)),
    "ratio": Row("ratio(x[n], y[n])", ratio, [lambda a, b: 1 / b if b else ZERO, lambda a, b: -a / b**2 if b else ZERO]),
    "quotient": Row("x[n] / y[n]", lambda a, b: a / b, [lambda a, b: 1 / b, lambda a, b: -a / b**2]),
    "power": Row("pow(x[n], y[n])", power, [d_power, d_exponent], 4, None, power_scale),
    "angle": Row("atan2(x[n], y[n])", angle, [lambda a, b: b / (a * a + b * b) if a or b else ZERO,
                                                lambda a, b: -a / (a * a + b * b) if a or b else ZERO], 2),
    "shifted": Row("shifted(x[n], y[n])", shifted, [shifted, lambda x, m: -shifted(x, m)], 2, log_scale(shifted),
                   log_scale(shifted)),
    "rescale": Row("rescale(x[n], y[n])", rescale, [slope_of_rescale, lambda m, to: -slope_of_rescale(m, to)], 2,
                   log_scale(rescale), log_scale(rescale)),
    "larger": Row("max(x[n], y[n])", max, [lambda a, b: mp.mpf(a >= b), lambda a, b: mp.mpf(a < b)], 0),
    "smaller": Row("min(x[n], y[n])", min, [lambda a, b: mp.mpf(a <= b), lambda a, b: mp.mpf(a > b)], 0),
    "maximum": Row("maximum(x[n], y[n])", max, [lambda a, b: tie(a > b, a, b), lambda a, b: tie(b > a, a, b)], 0),
    "minimum": Row("minimum(x[n], y[n])", min, [lambda a, b: tie(a < b, a, b), lambda a, b: tie(b < a, a, b)], 0),
}


# ---- Where ---------------------------------------------------------------------------------------------------------
EXPONENTIAL = [0.5, 1, 3, 9, 17, 20, 21, 40, 60, 88, 88.7, 90, 103, 120, 700, 709, 745, 800, 1000, 1e4, 1e20]


def points(t, n, some):
    """Numbers of the type: its ends, its smallest, n of the sweep of exponents, n of those that exponentials see."""
    rnd = random.Random(5)
    some = some + [0, 2.0**t.least, 3 * 2.0**t.least, 2.0 ** (t.least + t.bits - 1), t.largest, t.largest / 2, np.inf]
    some += [2.0 ** (t.least + (t.end - t.least) * (i + rnd.random()) / n) * (1 + rnd.random()) / 2 for i in range(n)]
    some += [rnd.uniform(0, 12) for i in range(n)] + [rnd.uniform(0, 110) for i in range(n)]
    with np.errstate(over="ignore"):
        x = np.array(some)
        x = np.concatenate([x, -x]).astype(t.stored)
    if t is BF16:
        x = (x.view(np.uint32) & 0xFFFF0000).view(np.float32)
    return x


def pairs(t):
    x = points(t, 1, EXPONENTIAL[1::7])
    both = np.array(list(itertools.product(x, x)), dtype=t.stored)
    return both[:, 0].copy(), both[:, 1].copy()


# ---- What is there -------------------------------------------------------------------------------------------------
def source(rows):
    text = ""
    for name, r in rows.items():
        params = ", ".join("%s: T[N]" % p for p in r.names)
        text += "op %s_<T>(%s) -> (z: T[N]) { z[n] = %s; }\ngrad %s_ wrt (%s);\n" % (
            name, params, r.text, name, ", ".join(r.names))
    return text


def run(gnnc, folder, target, t, rows, given):
    path = os.path.join(folder, "functions.gnn")
    with open(path, "w") as f:
        f.write(source(rows))
    args = [gnnc, "run", path, "--target=" + target, "-D", "T=" + t.name, "--param=dz=1", "--out=" + folder,
            "-D", "N=%d" % len(given[0])]
    for name, x in zip("xy", given):
        np.save(os.path.join(folder, name + ".npy"), x)
        args.append("--param=%s=%s/%s.npy" % (name, folder, name))
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def results(folder, t, name, r):
    yield "", np.load("%s/%s__%s.z.npy" % (folder, name, t.name)), r.value, r.scale
    for p, slope in zip(r.names, r.slopes):
        yield "'s slope by " + p, np.load("%s/%s__grad_%s.d%s.npy" % (folder, name, t.name, p)), slope, r.slope_scale


# ---- Beside each other ---------------------------------------------------------------------------------------------
def right(f, at):
    try:
        x = f(*at)
    except (ZeroDivisionError, ValueError, OverflowError):
        return NAN
    return x if isinstance(x, mp.mpf) else NAN


def is_near(t, r, got, want, scale, at):
    c = t if t is F64 else F32   # what it is computed in
    if mp.isnan(want) or mp.isinf(want):
        return mp.isnan(want) or not np.isnan(got) or any(0 < abs(a) < mp.ldexp(1, t.least + t.bits + 8) for a in at)   # 1 + a is 1
    if not np.isfinite(got):
        return not np.isnan(got) and abs(want) > t.largest * (1 - 2.0**-t.bits) and (got > 0) == (want > 0)
    allowed = r.roundings * c.unit(want) + (t.unit(want) * mp.mpf(0.5001) if t is not c else 0)
    allowed += r.roundings * c.unit(scale) if scale else 0
    allowed += 2 * mp.ldexp(1, c.least) * min(max(1, max(a * a for a in at)), 1000)   # what is subnormal on the way
    return abs(mp.mpf(float(got)) - want) <= allowed


def faults(t, folder, rows, given):
    ats = [tuple(mp.mpf(float(v)) for v in at) for at in zip(*given)]
    for name, r in rows.items():
        for what, got, f, scale in results(folder, t, name, r):
            bad = []
            for at, g in zip(ats, got):
                want = right(f, at)
                s = right(scale, at) if scale and mp.isfinite(want) else 0
                if not is_near(t, r, g, want, 0 if mp.isnan(s) or mp.isinf(s) else s, at):
                    bad.append("(%s) is %s, not %s" % (", ".join(mp.nstr(a, 9) for a in at), g, mp.nstr(want, 9) if abs(want) > mp.ldexp(1, -1100) else 0))
            if bad:
                yield "%s of %s%s: %d of %d, as %s" % (t.name, name, what, len(bad), len(ats), "; ".join(bad[:: len(bad) // 4 + 1]))


def main(gnnc, folder, target, *types):
    os.makedirs(folder, exist_ok=True)
    found = 0
    for t in (TYPES[name] for name in types):
        for arity, given in ((1, (points(t, 16, EXPONENTIAL),)), (2, pairs(t))):
            rows = {name: r for name, r in ROWS.items() if len(r.names) == arity}
            run(gnnc, folder, target, t, rows, given)
            for fault in faults(t, folder, rows, given):
                found += 1
                print(fault)
    print("%d functions in %s: %d faults" % (len(ROWS), ", ".join(types), found))
    return found != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
