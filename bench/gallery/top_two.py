from formulas import largest, rows, smallest

CASE = dict(sizes=dict(F=32), shapes=dict(w="E", x="N F"), wrt="w x")


def forward(g, T, w, x):
    m = w[:, None] * x[g.src]
    a = largest(g.dst, m, g.N, -T.inf)
    e = rows(T.arange(g.E, device=x.device), m)
    first = smallest(g.dst, T.where(m.detach() == a[g.dst], e, g.E), g.N, g.E)   # the edge that has it
    b = largest(g.dst, T.where(e == first[g.dst], -T.inf, m), g.N, -T.inf)
    two = b > -T.inf
    return T.where(two, T.where(two, a, 0) - T.where(two, b, 0), 0)
