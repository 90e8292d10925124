from formulas import total

CASE = dict(maps="src dst first second", sizes=dict(F=16), shapes=dict(p="N 3", w="4 F", m="E F"), wrt="p w m")


def forward(g, T, p, w, m):
    d = p[g.src] - p[g.dst]
    u = d * (d.square().sum(1, keepdim=True) + 0.01).rsqrt()
    c = -(u[g.first] * u[g.second]).sum(1, keepdim=True)
    b = w[0] + c * w[1] + (2 * c * c - 1) * w[2] + (4 * c ** 3 - 3 * c) * w[3]
    return total(g.first, b * m[g.second], g.E)
