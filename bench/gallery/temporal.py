from formulas import softmax, total

CASE = dict(sizes=dict(D=32), shapes=dict(t="E", w="D", b="D", q="N D", k="N D", x="N D"), ranges=dict(t=(0, 5)), wrt="w b q k x")


def forward(g, T, t, w, b, q, k, x):
    c = (t[:, None] * w + b).cos()
    s = (q[g.dst] * (k[g.src] + c)).sum(1) * q.shape[1] ** -0.5
    return total(g.dst, softmax(g.dst, s, g.N)[:, None] * (x[g.src] + c), g.N)
