from formulas import total

CASE = dict(sizes=dict(F=64), shapes=dict(k="N F", q="N F", x="N F"), wrt="k q x")


def forward(g, T, k, q, x):
    return total(g.dst, (k[g.dst] + q[g.src]).sigmoid() * x[g.src], g.N)
