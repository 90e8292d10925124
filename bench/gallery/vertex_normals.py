from formulas import total

CASE = dict(maps="face", shapes=dict(p="N 3"), wrt="p")


def forward(g, T, p):
    q = p[g.face]
    c = T.linalg.cross(q[:, 1] - q[:, 0], q[:, 2] - q[:, 0])
    s = total(g.face.reshape(-1), c.repeat_interleave(3, 0), g.N)
    return s * (s.square().sum(1, keepdim=True) + 0.01).rsqrt()
