from formulas import total

CASE = dict(sizes=dict(F=64), shapes=dict(p="N 3", a="F", b="F", x="N F"), wrt="a b x")


def forward(g, T, p, a, b, x):
    r = ((p[g.src] - p[g.dst]).square().sum(1) + 0.01).sqrt()[:, None]
    return total(g.dst, x[g.src] * (a * r + b).sin() * (b * r).cos() * (-r * a.abs()).exp() / r, g.N)
