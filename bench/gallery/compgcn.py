from formulas import total

CASE = dict(maps="src dst rel=etype", sizes=dict(F=64), shapes=dict(a="2 F", z="R F", x="N F"), wrt="a z x")


def forward(g, T, a, z, x):
    r = z[g.rel]
    return a[0] * total(g.dst, x[g.src] * r, g.N) + a[1] * total(g.src, x[g.dst] * r, g.N)
