from formulas import total

CASE = dict(sizes=dict(C=16), shapes=dict(w="E", t="C C", b="N C", x="N C"), wrt="w t b x")


def forward(g, T, w, t, b, x):
    m = total(g.dst, w[:, None] * x.softmax(1)[g.src], g.N)
    return (b - m @ t.t()).softmax(1)
