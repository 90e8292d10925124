from formulas import total

CASE = dict(sizes=dict(F=32), shapes=dict(c="E", w="4 F", x="N F"), wrt="c w x")


def forward(g, T, c, w, x):
    a, b = x, total(g.dst, c[:, None] * x[g.src], g.N)
    y = w[0] * a + w[1] * b
    for k in (2, 3):
        a, b = b, 2 * total(g.dst, c[:, None] * b[g.src], g.N) - a
        y = y + w[k] * b
    return y
