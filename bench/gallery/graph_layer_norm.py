from formulas import mean

CASE = dict(maps="batch", sizes=dict(F=64), shapes=dict(w="F", b="F", x="N F"), wrt="w b x")


def forward(g, T, w, b, x):
    d = x - mean(g.batch, x.mean(1), g.G)[g.batch, None]
    v = mean(g.batch, d.square().mean(1), g.G)[g.batch, None]
    return d * (v + 1e-5).rsqrt() * w + b
