from formulas import total

CASE = dict(sizes=dict(F=64), shapes=dict(w="E", a="N F", b="N F", c="N F"), wrt="w a b c")


def forward(g, T, w, a, b, c):
    return c + total(g.dst, w[:, None] * (a[g.src] - b[g.dst]), g.N)
