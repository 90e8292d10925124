from formulas import degree, total

CASE = dict(sizes=dict(F=32), shapes=dict(x="N F"), wrt="x")


def forward(g, T, x):
    c = (1 + degree(g.dst, g.N, x)).rsqrt()

    def hop(z):
        return total(g.dst, (c[g.src] * c[g.dst])[:, None] * z[g.src], g.N) + (c * c)[:, None] * z
    z = hop(x)
    return T.stack((x, z, hop(z)), 1)
