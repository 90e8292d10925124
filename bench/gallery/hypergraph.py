from formulas import inverse, mean, total

CASE = dict(maps="node=src:I->N edge=dst:I->M", sizes=dict(F=64), shapes=dict(w="M", x="N F"), ranges=dict(w=(0.1, 1)), wrt="w x")


def forward(g, T, w, x):
    h = w[:, None] * mean(g.edge, x[g.node], g.M)
    d = total(g.node, w[g.edge], g.N)
    return total(g.node, h[g.edge], g.N) * inverse(d)[:, None]
