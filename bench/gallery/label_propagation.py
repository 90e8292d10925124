from formulas import total

CASE = dict(sizes=dict(C=16), shapes=dict(known="N", w="E", y0="N C", x="N C"), types=dict(known="bool"), wrt="w y0 x")


def forward(g, T, known, w, y0, x):
    z = 0.9 * total(g.dst, w[:, None] * x[g.src], g.N) + 0.1 * y0
    return T.where(known[:, None], y0, z.clamp(0, 1))
