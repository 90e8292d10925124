from formulas import total

CASE = dict(sizes=dict(F=16), shapes=dict(p="N 3", w="E 3 F", s="N 3 F", x="N 3 F"), wrt="p w s x")


def forward(g, T, p, w, s, x):
    d = p[g.src] - p[g.dst]
    u = d * (d.square().sum(1, keepdim=True) + 0.01).rsqrt()
    m = w * s[g.src]
    z = m[:, 1:2] * x[g.src] + m[:, 2:3] * u[:, :, None]
    return total(g.dst, m[:, 0], g.N), total(g.dst, z, g.N)
