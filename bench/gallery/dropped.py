from formulas import total

CASE = dict(sizes=dict(F=32), shapes=dict(keep="E", on="N F", w="E", x="N F"), types=dict(keep="bool", on="bool"), wrt="w x")


def forward(g, T, keep, on, w, x):
    m = (keep * w)[:, None] * (2 * on * x)[g.src]
    n = total(g.dst, keep.to(x.dtype), g.N).clamp(min=1)
    return total(g.dst, m, g.N) / n[:, None]
