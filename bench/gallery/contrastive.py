from formulas import total

CASE = dict(maps="src dst neg", sizes=dict(F=32, J=4), shapes=dict(t="", x="N F"), ranges=dict(t=(1, 2)), wrt="t x")


def forward(g, T, t, x):
    u = x * (x.square().sum(1, keepdim=True) + 0.000001).rsqrt()
    h = u[g.dst]
    a, b = t * (u[g.src] * h).sum(1), t * (u[g.neg] * h[:, None]).sum(-1)
    z = total(g.dst, a.exp() + b.exp().sum(1), g.N)
    return (z[g.dst].log() - a).mean()
