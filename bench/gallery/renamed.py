from formulas import softmax, total

CASE = dict(sizes=dict(H=1, D=64), shapes=dict(q="N H D", k="N H D", x="N H D"), wrt="q k x")


def forward(g, T, q, k, x):
    s = (q[g.dst] * k[g.src]).sum(-1) * q.shape[-1] ** -0.5
    return total(g.dst, softmax(g.dst, s, g.N)[:, :, None] * x[g.src], g.N)
