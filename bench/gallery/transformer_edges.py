from formulas import softmax, total

CASE = dict(sizes=dict(H=2, D=16), shapes=dict(q="N H D", k="N H D", x="N H D", z="E H D"), wrt="q k x z")


def forward(g, T, q, k, x, z):
    s = (q[g.dst] * (k[g.src] + z)).sum(-1) * q.shape[-1] ** -0.5
    a = softmax(g.dst, s, g.N)
    return total(g.dst, a[:, :, None] * (x[g.src] + z), g.N)
