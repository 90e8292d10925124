from formulas import logsumexp

CASE = dict(sizes=dict(F=64), shapes=dict(t="F", x="N F"), wrt="t x")


def forward(g, T, t, x):
    return logsumexp(g.dst, t * x[g.src], g.N)
