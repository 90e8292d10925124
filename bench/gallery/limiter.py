from formulas import largest, smallest

CASE = dict(sizes=dict(F=8), shapes=dict(s="N 3 F", p="N 3", x="N F"), wrt="s p x")


def forward(g, T, s, p, x):
    a = T.maximum(x, largest(g.dst, x[g.src], g.N, -T.inf)) - x
    b = T.minimum(x, smallest(g.dst, x[g.src], g.N, T.inf)) - x
    d = 0.5 * (s[g.dst] * (p[g.src] - p[g.dst])[:, :, None]).sum(1)
    steep = d.abs() > 0.001
    r = T.where(steep, T.where(d > 0, a[g.dst], b[g.dst]) / T.where(steep, d, 1), 1)
    return smallest(g.dst, r, g.N, T.inf).clamp(max=1)
