from formulas import degree, inverse, root, total

CASE = dict(sizes=dict(F=64), shapes=dict(a="F", x="N F"), wrt="a x")


def forward(g, T, a, x):
    i, o = inverse(root(degree(g.dst, g.N, x))), inverse(root(degree(g.src, g.N, x)))
    w, s = (o[g.src] * i[g.dst])[:, None], a.sigmoid()
    return s * total(g.dst, w * x[g.src], g.N) + (1 - s) * total(g.src, w * x[g.dst], g.N)
