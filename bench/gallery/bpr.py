CASE = dict(maps="user=src item=dst:E->V other=neg:E->V", sizes=dict(F=64), shapes=dict(b="V", x="N F", z="V F"), wrt="b x z")


def forward(g, T, b, x, z):
    i, j = g.item, g.other[:, 0]
    d = b[i] - b[j] + (x[g.user] * (z[i] - z[j])).sum(1)
    return T.nn.functional.softplus(-d).mean()
