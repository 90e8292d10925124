from formulas import total

CASE = dict(maps="quad batch", shapes=dict(k="M 3", p="N 3"), wrt="k p")


def forward(g, T, k, p):
    q = p[g.quad]
    a, b, c = q[:, 1] - q[:, 0], q[:, 2] - q[:, 1], q[:, 3] - q[:, 2]
    u, w = T.linalg.cross(a, b), T.linalg.cross(b, c)
    s = (b.square().sum(1) + 0.01).sqrt() * (a * w).sum(1)
    t = T.atan2(s, (u * w).sum(1))
    h = k[:, 0] * (1 + t.cos()) + k[:, 1] * (1 - (2 * t).cos()) + k[:, 2] * (1 + (3 * t).cos())
    return total(g.batch[g.quad[:, 0]], h, g.G)
