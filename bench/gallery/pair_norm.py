from formulas import mean

CASE = dict(maps="batch", sizes=dict(F=64), shapes=dict(x="N F"), wrt="x")


def forward(g, T, x):
    c = x - mean(g.batch, x, g.G)[g.batch]
    return c * (1e-5 + mean(g.batch, c.square().sum(1), g.G)[g.batch, None]).rsqrt()
