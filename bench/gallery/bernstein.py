from formulas import degree, inverse, root, total

CASE = dict(sizes=dict(F=32), shapes=dict(t="3", x="N F"), ranges=dict(t=(0.1, 1)), wrt="t x")


def forward(g, T, t, x):
    c = inverse(root(degree(g.dst, g.N, x)))
    w = (c[g.src] * c[g.dst])[:, None]

    def around(z):
        return total(g.dst, w * z[g.src], g.N)
    t, p, q = t.relu(), x + around(x), x - around(x)
    return 0.25 * (t[0] * (p + around(p)) + 2 * t[1] * (p - around(p)) + t[2] * (q - around(q)))
