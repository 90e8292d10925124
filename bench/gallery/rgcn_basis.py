from formulas import total

CASE = dict(maps="src dst type=etype", sizes=dict(B=4, K=32), shapes=dict(a="R B", x="N K"), wrt="a x")


def forward(g, T, a, x):
    return total(g.dst, a[g.type][:, :, None] * x[g.src][:, None, :], g.N)
