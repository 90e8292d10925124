CASE = dict(maps="field", sizes=dict(F=16), shapes=dict(b="W", z="W F"), wrt="b z")


def forward(g, T, b, z):
    m = z[g.field]
    return b[g.field].sum(1) + 0.5 * (m.sum(1).square() - m.square().sum(1)).sum(1)
