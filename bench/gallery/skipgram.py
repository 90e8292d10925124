CASE = dict(maps="walk", sizes=dict(F=32, L=8), shapes=dict(x="N F", z="N F"), wrt="x z")


def forward(g, T, x, z):
    h, c = x[g.walk], z[g.walk]
    a, b = (h[:, :-1] * c[:, 1:]).sum(-1), (h[:, :-2] * c[:, 2:]).sum(-1)
    return T.nn.functional.softplus(-a).mean() + T.nn.functional.softplus(-b).mean()
