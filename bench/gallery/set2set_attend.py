from formulas import softmax, total

CASE = dict(maps="batch", sizes=dict(F=64), shapes=dict(x="N F", q="G F"), wrt="x q")


def forward(g, T, x, q):
    a = softmax(g.batch, (x * q[g.batch]).sum(1), g.G)
    return total(g.batch, a[:, None] * x, g.G)
