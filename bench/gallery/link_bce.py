CASE = dict(maps="src dst neg", sizes=dict(F=64), shapes=dict(x="N F"), wrt="x")


def forward(g, T, x):
    h = x[g.src]
    a, b = (h * x[g.dst]).sum(1), (h * x[g.neg[:, 0]]).sum(1)
    return (T.nn.functional.softplus(-a) + T.nn.functional.softplus(b)).mean()
