CASE = dict(maps="quad", shapes=dict(k="M", p="N 3"), wrt="k p")


def forward(g, T, k, p):
    q = p[g.quad]
    a, b, c = q[:, 1] - q[:, 0], q[:, 2] - q[:, 0], q[:, 3] - q[:, 0]
    u, w = T.linalg.cross(b, a), T.linalg.cross(a, c)
    r = ((u.square().sum(1) + 0.01) * (w.square().sum(1) + 0.01)).rsqrt()
    return (k * (1 - r * (u * w).sum(1))).sum()
