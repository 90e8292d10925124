from formulas import mean

CASE = dict(sizes=dict(F=64), shapes=dict(a="F", b="F", x="N F"), wrt="a b x")


def forward(g, T, a, b, x):
    m = a * x + b * mean(g.dst, x[g.src], g.N)
    return T.nn.functional.normalize(m, dim=1)
