from formulas import total

CASE = dict(sizes=dict(F=64), shapes=dict(w="E", x="N F", b="F"), ranges=dict(w=(0.1, 1)), wrt="w x b")


def forward(g, T, w, x, b):
    d = 1 + total(g.dst, w, g.N)
    c = d.rsqrt()
    norm = c[g.src] * w * c[g.dst]
    return total(g.dst, norm[:, None] * x[g.src], g.N) + (c * c)[:, None] * x + b
