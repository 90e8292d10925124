CASE = dict(maps="user=src other=neg:E->V item=dst:E->V", sizes=dict(J=4, F=64), wrt="x z", ranges=dict(mix=(0, 1)),
            shapes=dict(mix="E J 3", x="N 3 F", z="V 3 F"))


def forward(g, T, mix, x, z):
    h, pos = x[g.user], z[g.item]
    n = mix[..., None] * pos[:, None] + (1 - mix[..., None]) * z[g.other]
    at = (h[:, None] * n).sum(3).argmax(1)
    kept = n.gather(1, at[:, None, :, None].expand(-1, 1, -1, n.shape[3]))[:, 0]
    u = h.sum(1)
    d = (u * (kept.sum(1) - pos.sum(1))).sum(1)
    decay = (h[:, 0].square() + pos[:, 0].square()).sum(1).mean()
    return T.nn.functional.softplus(d / 8).mean() + 1e-4 * decay
