from formulas import total

CASE = dict(sizes=dict(F=32), shapes=dict(a="N F", b="N F", x="N F", z="E F", c="F", s="F"), wrt="a b x z c s")


def forward(g, T, a, b, x, z, c, s):
    r = a[g.dst] + b[g.src] + z
    p = r.sigmoid()
    y = total(g.dst, p * x[g.src], g.N) / (total(g.dst, p, g.N) + 1e-6)
    return y, z + T.nn.functional.batch_norm(r, None, None, c, s, True).relu()
