CASE = dict(maps="user=src item=dst:E->V", sizes=dict(F=32), shapes=dict(r="E", a="N", b="V", x="N F", z="V F"), wrt="a b x z")


def forward(g, T, r, a, b, x, z):
    d = r - a[g.user] - b[g.item] - (x[g.user] * z[g.item]).sum(1)
    return d, d.square().mean()
