from formulas import total

CASE = dict(sizes=dict(F=16), shapes=dict(t="E", w="E", x="N F 2"), wrt="t w x")


def forward(g, T, t, w, x):
    c, s, m = t.cos()[:, None], t.sin()[:, None], x[g.src]
    turned = T.stack((c * m[..., 0] - s * m[..., 1], s * m[..., 0] + c * m[..., 1]), -1)
    return total(g.dst, w[:, None, None] * (x[g.dst] - turned), g.N)
