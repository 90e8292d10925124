CASE = dict(sizes=dict(F=64), shapes=dict(same="E", x="N F"), types=dict(same="bool"), wrt="x")


def forward(g, T, same, x):
    u = x * (x.square().sum(1, keepdim=True) + 0.000001).rsqrt()
    c = (u[g.src] * u[g.dst]).sum(1)
    return T.where(same, 1 - c, (c - 0.1).relu()).mean()
