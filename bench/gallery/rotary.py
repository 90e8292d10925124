from formulas import softmax, total

CASE = dict(sizes=dict(K=8, F=16), shapes=dict(p="N", w="K", q="N K 2", k="N K 2", x="N F"), ranges=dict(p=(0, 9)), wrt="p w q k x")


def forward(g, T, p, w, q, k, x):
    d = (p[g.dst] - p[g.src])[:, None] * w
    a, b = q[g.dst], k[g.src]
    r, s = (a * b).sum(-1), a[..., 1] * b[..., 0] - a[..., 0] * b[..., 1]
    score = (r * d.cos() - s * d.sin()).sum(1)
    return total(g.dst, softmax(g.dst, score, g.N)[:, None] * x[g.src], g.N)
