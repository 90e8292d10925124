from formulas import softmax, total

CASE = dict(maps="src dst hop=etype", sizes=dict(H=4, D=8), shapes=dict(b="R H", q="N H D", k="N H D", x="N H D"), wrt="b q k x")


def forward(g, T, b, q, k, x):
    s = (q[g.dst] * k[g.src]).sum(-1) * q.shape[-1] ** -0.5 + b[g.hop]
    return total(g.dst, softmax(g.dst, s, g.N)[:, :, None] * x[g.src], g.N)
