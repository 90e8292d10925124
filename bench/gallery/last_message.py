from formulas import largest, smallest

CASE = dict(sizes=dict(F=64), shapes=dict(t="E", a="F", x="N F"), ranges=dict(t=(0, 1)), wrt="a x")


def forward(g, T, t, a, x):
    e = T.arange(g.E, device=x.device)
    first = smallest(g.dst, T.where(t == largest(g.dst, t, g.N)[g.dst], e, g.E), g.N, g.E)
    there, first = (first < g.E)[:, None], first.clamp(max=g.E - 1)
    return there * (x[g.src[first]] * (-a.square() * (1 - t[first])[:, None]).exp())
