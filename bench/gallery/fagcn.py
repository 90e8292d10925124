from formulas import degree, total

CASE = dict(sizes=dict(F=64), shapes=dict(l="F", r="F", x="N F", x0="N F"), wrt="l r x x0")


def forward(g, T, l, r, x, x0):
    c = (1 + degree(g.dst, g.N, x)).rsqrt()
    a = ((x @ l)[g.src] + (x @ r)[g.dst]).tanh() * c[g.src] * c[g.dst]
    return 0.1 * x0 + total(g.dst, a[:, None] * x[g.src], g.N)
