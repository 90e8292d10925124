from formulas import mean

CASE = dict(sizes=dict(H=4, F=16), shapes=dict(p="N H", c="H", x="N H F"), wrt="p c x")


def forward(g, T, p, c, x):
    a = (p[g.src] - p[g.dst] + c).softmax(1)
    return mean(g.dst, (a[:, :, None] * x[g.src]).sum(1), g.N)
