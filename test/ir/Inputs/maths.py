"""Prints maths.h: functions of math.def at some numbers of f32, by mpmath: each as a double and what that leaves, and its slopes."""
import random

import mpmath as mp

mp.mp.prec = 300
SLOPE = {
    "exp": mp.exp, "log": lambda x: 1 / x, "tanh": lambda x: mp.sech(x) ** 2, "sin": mp.cos, "cos": lambda x: -mp.sin(x),
    "erf": lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x), "expm1": mp.exp, "log1p": lambda x: 1 / (1 + x)}
RANGES = {
    "exp": [(-80, 80), (-1, 1)], "log": [(0.5, 2), (1e-30, 1e-28), (1, 1e30)], "tanh": [(-9, 9), (-0.1, 0.1)],
    "sin": [(-100, 100), (-0.1, 0.1)], "cos": [(-100, 100), (-3, 3)], "erf": [(-4, 4), (-0.1, 0.1)],
    "expm1": [(-20, 80), (-0.1, 0.1)], "log1p": [(-0.99, 1), (-1e-3, 1e-3), (1, 1e6)]}
POINTS = 12


def narrow(x):   # to 24 bits
    m, e = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(m, 24)), e - 24)


def point(name, x, y, value, dx, dy):
    high = float(value)
    numbers = [float(x), float(y), high, float(value - high), float(dx), float(dy)]
    print("POINT(%s, %s)" % (name, ", ".join(v.hex() for v in numbers)))


def main():
    rnd = random.Random(1)
    print("// By maths.py: POINT(function, x, y, value, what that leaves, slope by x, slope by y).")
    print("// clang-format off")
    for name, ranges in RANGES.items():
        for low, high in ranges:
            for _ in range(POINTS):
                x = narrow(mp.mpf(rnd.uniform(low, high)))
                point(name, x, 0, getattr(mp, name)(x), SLOPE[name](x), 0)
    for _ in range(2 * POINTS):
        x, y = narrow(mp.mpf(rnd.uniform(0.1, 50))), narrow(mp.mpf(rnd.uniform(-20, 20)))
        point("pow", x, y, x**y, y * x ** (y - 1), x**y * mp.log(x))
    for _ in range(2 * POINTS):   # here x is the first argument, which C calls y
        x, y = narrow(mp.mpf(rnd.uniform(-50, 50))), narrow(mp.mpf(rnd.uniform(-20, 20)))
        point("atan2", x, y, mp.atan2(x, y), y / (x * x + y * y), -x / (x * x + y * y))


main()
