from formulas import total

CASE = dict(sizes=dict(K=16, F=32), wrt="p mu beta w x", ranges=dict(mu=(0, 1), beta=(1, 4)),
            shapes=dict(p="N 3", mu="K", beta="K", w="3 K F", x="N 3 3 F"))


def forward(g, T, p, mu, beta, w, x):
    r = ((p[g.src] - p[g.dst]).square().sum(1) + 1e-4).sqrt()
    cut = T.where(r < 3, 0.5 * ((T.pi * r / 3).cos() + 1), 0)
    basis = cut[:, None] * (-beta * ((-r).exp()[:, None] - mu).square()).exp()
    s = T.nn.functional.silu(T.einsum("ek,ckf->ecf", basis, w)) * cut[:, None, None]
    one = T.eye(3, dtype=x.dtype, device=x.device)[None, :, :, None]
    iso = one * T.einsum("niif->nf", x)[:, None, None] / 3
    anti, sym = 0.5 * (x - x.transpose(1, 2)), 0.5 * (x + x.transpose(1, 2)) - iso
    weighted = [s[:, c, None, None] * part[g.src] for c, part in enumerate((iso, anti, sym))]
    m = total(g.dst, sum(weighted), g.N)
    b = T.einsum("nikf,nkjf->nijf", x, m) + T.einsum("nikf,nkjf->nijf", m, x)
    return x + b / (1 + b.square().sum((1, 2), keepdim=True))
