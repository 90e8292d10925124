from formulas import degree, total

CASE = dict(sizes=dict(F=32), shapes=dict(q="E", x="N F 2"), wrt="q x")


def forward(g, T, q, x):
    d = (1 + degree(g.dst, g.N, x)).rsqrt()
    w = d[g.src] * d[g.dst]
    c, s = (w * q.cos())[:, None], (w * q.sin())[:, None]
    a, b = x[g.src, :, 0], x[g.src, :, 1]
    return total(g.dst, T.stack((c * a - s * b, s * a + c * b), -1), g.N)
