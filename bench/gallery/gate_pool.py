from formulas import softmax, total

CASE = dict(maps="batch", sizes=dict(F=64), shapes=dict(w="F", x="N F"), wrt="w x")


def forward(g, T, w, x):
    a = softmax(g.batch, x @ w, g.G)
    return total(g.batch, a[:, None] * x, g.G), -total(g.batch, a * (a + 0.000001).log(), g.G)
