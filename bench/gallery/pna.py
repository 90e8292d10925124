from formulas import degree, inverse, largest, mean, smallest, variance

CASE = dict(sizes=dict(F=16), shapes=dict(a="N F", b="N F"), wrt="a b")


def forward(g, T, a, b):
    m = a[g.dst] + b[g.src]
    std = (variance(g.dst, m, g.N) + 1e-5).sqrt()
    z = T.stack((mean(g.dst, m, g.N), largest(g.dst, m, g.N), smallest(g.dst, m, g.N), std), 1)
    d = (degree(g.dst, g.N, a) + 1).log()
    c = T.stack((T.ones_like(d), 0.5 * d, 2 * inverse(d)), 1)
    return c[:, None, :, None] * z[:, :, None, :]
