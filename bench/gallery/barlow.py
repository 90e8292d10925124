CASE = dict(maps="", sizes=dict(F=16), shapes=dict(x="N F", z="N F"), wrt="x z")


def forward(g, T, x, z):
    a = T.nn.functional.batch_norm(x, None, None, training=True)
    b = T.nn.functional.batch_norm(z, None, None, training=True)
    c = a.t() @ b / g.N
    own = T.eye(g.F, dtype=T.bool, device=x.device)
    return T.where(own, (1 - c).square(), 0.005 * c.square()).sum()
