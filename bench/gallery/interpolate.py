CASE = dict(maps="nb", sizes=dict(F=64), shapes=dict(p="N 3", x="N F"), wrt="p x")


def forward(g, T, p, x):
    w = 1 / ((p[g.nb] - p[:, None]).square().sum(-1) + 0.01)
    return (w[:, :, None] * x[g.nb]).sum(1) / w.sum(1, keepdim=True)
