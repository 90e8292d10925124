CASE = dict(maps="head=src tail=dst rel=etype", sizes=dict(F=32), shapes=dict(s="E", z="R F 2", x="N F 2"), wrt="z x")


def forward(g, T, s, z, x):
    r, h, t = z[g.rel], x[g.head], x[g.tail]
    real = h[..., 0] * t[..., 0] + h[..., 1] * t[..., 1]
    imaginary = h[..., 0] * t[..., 1] - h[..., 1] * t[..., 0]
    a = (r[..., 0] * real + r[..., 1] * imaginary).sum(1)
    return T.nn.functional.softplus(-s * a).mean()
