from formulas import mean, total

CASE = dict(sizes=dict(F=32), shapes=dict(p="N 3", a="N F", b="N F", c="F", w="F"), wrt="p a b c w")


def forward(g, T, p, a, b, c, w):
    d = p[g.dst] - p[g.src]
    m = T.nn.functional.silu(a[g.dst] + b[g.src] + d.square().sum(1, keepdim=True) * c)
    return total(g.dst, m, g.N), p + mean(g.dst, d * (m @ w)[:, None], g.N)
