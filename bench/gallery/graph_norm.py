from formulas import mean

CASE = dict(maps="batch", sizes=dict(F=64), shapes=dict(w="F", b="F", s="F", x="N F"), wrt="w b s x")


def forward(g, T, w, b, s, x):
    c = x - mean(g.batch, x, g.G)[g.batch] * s
    return w * c * (mean(g.batch, c.square(), g.G)[g.batch] + 1e-5).rsqrt() + b
