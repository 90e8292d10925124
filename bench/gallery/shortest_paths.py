from formulas import smallest

CASE = dict(sizes=dict(F=32), shapes=dict(w="E", x="N F"), ranges=dict(w=(0.1, 0.5), x=(0, 1)), wrt="w x")


def forward(g, T, w, x):
    return T.minimum(x, smallest(g.dst, x[g.src] + w[:, None], g.N, T.inf))
