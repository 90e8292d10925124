from formulas import total

CASE = dict(shapes=dict(k="E", l="E", m="N", p="N 3", u="N 3"), ranges=dict(k=(1, 2), l=(0.1, 1), m=(0.5, 1)), wrt="k l m p u")


def forward(g, T, k, l, m, p, u):
    d = p[g.src] - p[g.dst]
    r = (d.square().sum(1) + 0.0001).sqrt()
    c = ((u[g.src] - u[g.dst]) * d).sum(1) / r
    f = total(g.dst, ((k * (r - l) + 0.1 * c) / r)[:, None] * d, g.N)
    w = u + 0.01 * (f / m[:, None] - 9.81 * (T.arange(3, device=p.device) == 2).to(p.dtype))
    return p + 0.01 * w, w
