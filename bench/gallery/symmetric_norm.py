from formulas import total

CASE = dict(sizes=dict(F=64), shapes=dict(w="E", n="N", x="N F"), wrt="n w x")


def forward(g, T, w, n, x):
    return n[:, None] * total(g.dst, (w * n[g.src])[:, None] * x[g.src], g.N)
