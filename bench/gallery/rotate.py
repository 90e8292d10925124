CASE = dict(maps="head=src tail=dst rel=etype", sizes=dict(F=32), shapes=dict(t="R F", x="N F 2"), wrt="t x")


def forward(g, T, t, x):
    r, h = t[g.rel], x[g.head]
    c, s, u, v = r.cos(), r.sin(), h[..., 0], h[..., 1]
    d = T.stack((u * c - v * s, u * s + v * c), -1) - x[g.tail]
    return 9 - (d.square().sum(-1) + 0.0001).sqrt().sum(1)
