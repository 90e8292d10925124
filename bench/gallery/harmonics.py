from formulas import total

CASE = dict(sizes=dict(F=16), shapes=dict(p="N 3", x="N F"), wrt="p x")


def forward(g, T, p, x):
    d = p[g.src] - p[g.dst]
    a, b, c = (d * (d.square().sum(1, keepdim=True) + 0.01).rsqrt()).unbind(1)
    k = 1.7320508
    s = T.stack((a, b, c, k * a * b, k * b * c, 0.5 * (3 * c * c - 1), k * a * c, k / 2 * (a * a - b * b)), 1)
    return total(g.dst, s[:, :, None] * x[g.src][:, None], g.N)
