from formulas import softmax, total

CASE = dict(sizes=dict(H=4, D=16), shapes=dict(l="N H D", r="N H D", z="E H", c="H D", a="H D"), wrt="l r z c a")


def forward(g, T, l, r, z, c, a):
    m = T.nn.functional.leaky_relu(l[g.dst] + r[g.src] + z[:, :, None] * c, 0.2)
    p = softmax(g.dst, (a * m).sum(-1), g.N)
    return total(g.dst, p[:, :, None] * r[g.src], g.N)
