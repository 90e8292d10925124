from formulas import mean, total

CASE = dict(maps="src dst cluster", sizes=dict(F=32), shapes=dict(a="F", x="N F"), wrt="a x")


def forward(g, T, a, x):
    p, q = g.cluster[g.src], g.cluster[g.dst]
    m = (p != q)[:, None] * (a * (x[g.src] - x[g.dst]).abs())
    return mean(g.cluster, x, g.C), total(q, m, g.C)
