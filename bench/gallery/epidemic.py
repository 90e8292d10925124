from formulas import product

CASE = dict(sizes=dict(F=16), shapes=dict(b="E", r="N", x="N F"), ranges=dict(b=(0, 0.1), r=(0, 1), x=(0, 1)), wrt="b r x")


def forward(g, T, b, r, x):
    q = product(g.dst, 1 - b[:, None] * x[g.src], g.N)
    return x * (1 - r)[:, None] + (1 - x) * (1 - q)
