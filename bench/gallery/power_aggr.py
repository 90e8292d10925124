from formulas import degree, mean

CASE = dict(sizes=dict(F=64), shapes=dict(p="", x="N F"), ranges=dict(p=(1.5, 3), x=(0.01, 2)), wrt="p x")


def forward(g, T, p, x):
    m = mean(g.dst, x[g.src] ** p, g.N)
    empty = degree(g.dst, g.N, x)[:, None] == 0
    return T.where(empty, 1, m) ** (1 / p)
