from formulas import softmax, total

CASE = dict(graphs="molecules dense", maps="batch", also="mate_a mate_b", sizes=dict(D=16), shapes=dict(q="N D", k="N D", x="N D"), wrt="q k x")


def forward(g, T, q, k, x):
    a = softmax(g.mate_a, (q[g.mate_a] * k[g.mate_b]).sum(1), g.N)
    return total(g.mate_a, a[:, None] * x[g.mate_b], g.N)
