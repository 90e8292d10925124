from formulas import total

CASE = dict(sizes=dict(D=3, F=8), shapes=dict(a="E D D", b="E D D", x="N D F"), wrt="a b x")


def forward(g, T, a, b, x):
    m = b @ x[g.dst] - a @ x[g.src]
    return total(g.dst, b.transpose(1, 2) @ m, g.N)
