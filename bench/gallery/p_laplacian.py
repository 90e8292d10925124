from formulas import total

CASE = dict(sizes=dict(F=16), shapes=dict(p="", w="E", x="N F"), ranges=dict(p=(1.2, 1.8), w=(0.1, 1)), wrt="p w x")


def forward(g, T, p, w, x):
    d = x[g.dst] - x[g.src]
    r = w * d.square().sum(1) + 0.01
    return total(g.dst, (w * r ** (0.5 * p - 1))[:, None] * d, g.N)
