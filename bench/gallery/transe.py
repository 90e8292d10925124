from formulas import norm

CASE = dict(maps="head=src tail=dst rel=etype neg", sizes=dict(F=32, J=4), shapes=dict(x="N F", z="R F"), wrt="x z")


def forward(g, T, x, z):
    h = x[g.head] + z[g.rel]
    a, b = norm(h - x[g.tail]), norm(h[:, None] - x[g.neg])
    return (1 + a[:, None] - b).relu().mean()
