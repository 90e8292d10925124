from formulas import mean

CASE = dict(shapes=dict(l="2", p="N 3"), wrt="l p")


def forward(g, T, l, p):
    q = p + l[0] * mean(g.dst, p[g.src] - p[g.dst], g.N)
    return q + l[1] * mean(g.dst, q[g.src] - q[g.dst], g.N)
