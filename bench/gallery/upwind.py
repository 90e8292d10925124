from formulas import total

CASE = dict(sizes=dict(F=16), shapes=dict(s="E", v="N", x="N F"), ranges=dict(v=(0.5, 1)), wrt="s v x")


def forward(g, T, s, v, x):
    c = s[:, None] * T.where((s > 0)[:, None], x[g.src], x[g.dst])
    return x + (0.1 / v)[:, None] * (total(g.dst, c, g.N) - total(g.src, c, g.N))
