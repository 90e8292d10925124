CASE = dict(maps="head=src tail=dst rel=etype neg", sizes=dict(F=32, J=4), shapes=dict(z="R F", x="N F"), wrt="z x")


def forward(g, T, z, x):
    h = x[g.head] * z[g.rel]
    a, b = (h * x[g.tail]).sum(1, keepdim=True), (h[:, None] * x[g.neg]).sum(-1)
    return T.cat((a, b), 1).logsumexp(1) - a[:, 0]
