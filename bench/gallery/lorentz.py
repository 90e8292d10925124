from formulas import softmax, total

CASE = dict(sizes=dict(D=16), shapes=dict(t="", x="N D"), wrt="t x")


def forward(g, T, t, x):
    h = (1 + x.square().sum(1)).sqrt()
    s = (x[g.src] * x[g.dst]).sum(1) - h[g.src] * h[g.dst]
    a = softmax(g.dst, t * s, g.N)
    m, k = total(g.dst, a[:, None] * x[g.src], g.N), total(g.dst, a * h[g.src], g.N)
    r = ((k.square() - m.square().sum(1)).abs() + 0.01).rsqrt()
    return m * r[:, None], k * r
