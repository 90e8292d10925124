from formulas import degree, largest, total

CASE = dict(shapes=dict(c="E", a="N", b="N", u="N"), ranges=dict(c=(0, 1)), wrt="c a b u")

def lse(T, at, values, n):
    empty = degree(at, n, values) == 0
    top = largest(at, values.detach(), n)
    s = total(at, (values - top[at]).exp(), n)
    return T.where(empty, 0, T.where(empty, 1, s).log() + top)


def forward(g, T, c, a, b, u):
    y = b - lse(T, g.dst, u[g.src] - 4 * c, g.N)
    return a - lse(T, g.src, y[g.dst] - 4 * c, g.N), y
