from formulas import degree, inverse, root, total

CASE = dict(sizes=dict(K=3, F=16), shapes=dict(x="N K F", r="N K F", b="K F"), wrt="x r b")


def forward(g, T, x, r, b):
    c = inverse(root(degree(g.dst, g.N, x)))
    w = (c[g.src] * c[g.dst])[:, None, None]
    return (total(g.dst, w * x[g.src], g.N) + r + b).relu().mean(1)
