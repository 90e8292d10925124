from formulas import total

CASE = dict(maps="src dst type=etype", sizes=dict(F=16), shapes=dict(x="R N F", c="R N F", b="R N F"), wrt="x c b")


def forward(g, T, x, c, b):
    m = c[g.type, g.dst] * x[g.type, g.src] + b[g.type, g.dst]
    return total(g.dst, m.relu(), g.N)
