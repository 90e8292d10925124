from formulas import largest, smallest, total

CASE = dict(wrt="slope x", shapes=dict(area="E 3", out="E 3", back="E 3", vol="N", slope="N 5 3", x="N 5"),
            ranges=dict(out=(-0.5, 0.5), back=(-0.5, 0.5), vol=(0.5, 1.5), slope=(-0.2, 0.2), x=(0.5, 1.5)))


def forward(g, T, area, out, back, vol, slope, x):
    change = x[g.src] - x[g.dst]
    hi, lo = largest(g.dst, change, g.N), smallest(g.dst, change, g.N)
    step = (slope[g.dst] * out[:, None]).sum(2)
    room = T.where(step > 0, hi[g.dst].clamp(min=0), lo[g.dst].clamp(max=0))
    ratio = (room ** 2 + 2 * room * step + 0.01) / (room ** 2 + 2 * step ** 2 + room * step + 0.01)
    phi = smallest(g.dst, ratio, g.N, 1.0)
    l = x[g.dst] + phi[g.dst] * step
    r = x[g.src] + phi[g.src] * (slope[g.src] * back[:, None]).sum(2)
    size = (area.square().sum(1) + 1e-12).sqrt()
    n = area / size[:, None]

    def side(w):
        rho, u, p = w[:, :1], w[:, 1:4], w[:, 4:]
        v, a = (u * n).sum(1, keepdim=True), (1.4 * p / rho).sqrt()
        cons = T.cat((rho, rho * u, 2.5 * p + 0.5 * rho * u.square().sum(1, keepdim=True)), 1)
        return v, a, cons, cons * v + p * T.cat((T.zeros_like(v), n, v), 1)
    vl, al, ul, fl = side(l)
    vr, ar, ur, fr = side(r)
    sl, sr = T.minimum(vl - al, vr - ar), T.maximum(vl + al, vr + ar)
    f = T.where(sl >= 0, fl, T.where(sr <= 0, fr, (sr * fl - sl * fr + sl * sr * (ur - ul)) / (sr - sl)))
    return -total(g.dst, size[:, None] * f, g.N) / vol[:, None]
