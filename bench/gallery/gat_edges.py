from formulas import softmax, total

CASE = dict(sizes=dict(H=4, D=16, P=8), shapes=dict(l="N H", r="N H", u="P H", z="E P", x="N H D"), wrt="l r u z x")


def forward(g, T, l, r, u, z, x):
    s = T.nn.functional.leaky_relu(l[g.dst] + r[g.src] + z @ u, 0.2)
    a = softmax(g.dst, s, g.N)
    return total(g.dst, a[:, :, None] * x[g.src], g.N)
