from formulas import softmax, total

CASE = dict(sizes=dict(D=16, F=32), shapes=dict(tau="", k="N D", q="N D", x="N F"), wrt="tau k q x")


def forward(g, T, tau, k, q, x):
    a = softmax(g.dst, (k[g.src] * q[g.dst]).sum(1), g.N)
    return x + tau * total(g.dst, a[:, None] * (x[g.src] - x[g.dst]), g.N)
