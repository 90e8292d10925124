from formulas import largest, smallest

CASE = dict(sizes=dict(H=4, D=8), shapes=dict(q="N H D", k="N H D"), wrt="q k")


def forward(g, T, q, k):
    s = (q[g.dst] * k[g.src]).sum(-1)
    a, b = largest(g.dst, s, g.N)[g.dst], smallest(g.dst, s, g.N)[g.dst]
    return (s - b) / (a - b + 0.1)
