from formulas import total

CASE = dict(sizes=dict(F=64), shapes=dict(c="E", h="N F"), wrt="c h")


def forward(g, T, c, h):
    z = h
    for _ in range(2):
        z = 0.9 * total(g.dst, c[:, None] * z[g.src], g.N) + 0.1 * h
    return z
