from formulas import total

CASE = dict(shapes=dict(a="", q="N", p="N 3"), ranges=dict(a=(0.5, 1)), wrt="a q p")


def forward(g, T, a, q, p):
    r = ((p[g.src] - p[g.dst]).square().sum(1) + 0.05).sqrt()
    return q * total(g.dst, q[g.src] * T.erfc(a * r) / r, g.N)
