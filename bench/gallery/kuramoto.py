from formulas import total

CASE = dict(sizes=dict(F=32), shapes=dict(w="E", o="N", t="N F"), wrt="w o t")


def forward(g, T, w, o, t):
    return t + 0.05 * (o[:, None] + total(g.dst, w[:, None] * (t[g.src] - t[g.dst]).sin(), g.N))
