from formulas import softmax, total

CASE = dict(sizes=dict(H=4, D=16), shapes=dict(l="H D", r="H D", x="N H D"), wrt="l r x")


def forward(g, T, l, r, x):
    b, c = (x * r).sum(-1), (x * l).sum(-1)
    t = (x[g.src] * x[g.dst]).sum(-1)
    s = T.nn.functional.leaky_relu((b[g.src] + c[g.dst]) * t.sigmoid(), 0.2)
    return total(g.dst, softmax(g.dst, s, g.N)[:, :, None] * x[g.src], g.N)
