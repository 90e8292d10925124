from formulas import total

CASE = dict(sizes=dict(F=32), shapes=dict(a="2 N F", b="2 N F", z="2 E F"), wrt="a b z")


def forward(g, T, a, b, z):
    m = a[:, g.dst] + b[:, g.src] + z
    return total(g.dst, m[0].sigmoid() * T.nn.functional.softplus(m[1]), g.N)
