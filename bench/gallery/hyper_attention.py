from formulas import softmax, total

CASE = dict(maps="node=src:I->N edge=dst:I->M", sizes=dict(F=32), shapes=dict(l="N", r="M", c="F", x="N F"), wrt="l r c x")


def forward(g, T, l, r, c, x):
    bend = T.nn.functional.leaky_relu
    a = softmax(g.edge, bend(l[g.node] + r[g.edge], 0.2), g.M)
    h = total(g.edge, a[:, None] * x[g.node], g.M).relu()
    b = softmax(g.node, bend(l[g.node] + (h @ c)[g.edge], 0.2), g.N)
    return total(g.node, b[:, None] * h[g.edge], g.N)
