CASE = dict(maps="src dst neg", sizes=dict(D=8), shapes=dict(x="N D"), ranges=dict(x=(-0.3, 0.3)), wrt="x")


def forward(g, T, x):
    c = 1 - x.square().sum(1)

    def distance(u, v):
        p = 2 * (x[u] - x[v]).square().sum(-1) / (c[u] * c[v]) + 0.0001
        return (p + (p.square() + 2 * p).sqrt()).log1p()
    a, b = distance(g.src, g.dst), distance(g.src[:, None], g.neg)
    return (a + ((-a).exp() + (-b).exp().sum(1)).log()).mean()
