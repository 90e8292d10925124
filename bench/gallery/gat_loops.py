from formulas import largest, total

CASE = dict(sizes=dict(H=4, D=16), shapes=dict(l="N H", r="N H", x="N H D"), wrt="l r x")


def forward(g, T, l, r, x):
    F = T.nn.functional
    s, o = F.leaky_relu(l[g.dst] + r[g.src], 0.2), F.leaky_relu(l + r, 0.2)
    m = T.maximum(o, largest(g.dst, s, g.N, -T.inf)).detach()
    c, e = (o - m).exp(), (s - m[g.dst]).exp()
    top = c[:, :, None] * x + total(g.dst, e[:, :, None] * x[g.src], g.N)
    return top / (c + total(g.dst, e, g.N))[:, :, None]
