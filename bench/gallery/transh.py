CASE = dict(maps="head=src tail=dst rel=etype", sizes=dict(F=32), shapes=dict(w="R F", z="R F", x="N F"), wrt="w z x")


def forward(g, T, w, z, x):
    d, n = x[g.head] - x[g.tail], w[g.rel]
    c = (d * n).sum(1, keepdim=True) / (n.square().sum(1, keepdim=True) + 0.01)
    return -(d - c * n + z[g.rel]).abs().sum(1)
