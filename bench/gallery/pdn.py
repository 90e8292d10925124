from formulas import total

CASE = dict(sizes=dict(P=4, J=16, F=32), shapes=dict(z="E P", u="P J", b="J", o="J", x="N F"), wrt="z u b o x")


def forward(g, T, z, u, b, o, x):
    w = ((z @ u + b).relu() @ o).sigmoid()
    c = (1 + total(g.dst, w, g.N)).rsqrt()
    return total(g.dst, (c[g.src] * w * c[g.dst])[:, None] * x[g.src], g.N)
