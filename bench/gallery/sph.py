from formulas import total

CASE = dict(shapes=dict(m="N", p="N 3"), ranges=dict(m=(0.1, 1)), wrt="m p")


def forward(g, T, m, p):
    d = p[g.dst] - p[g.src]
    s = (1 - 0.25 * d.square().sum(1)).clamp(min=0)
    rho = m + total(g.dst, m[g.src] * s ** 3, g.N)
    k = (rho - 1) / rho.square()
    a = m[g.src] * (k[g.dst] + k[g.src]) * s.square()
    return rho, total(g.dst, a[:, None] * d, g.N)
