from formulas import largest, softmax

CASE = dict(sizes=dict(H=4, D=16), shapes=dict(s="N H", x="N H D"), wrt="s x")


def forward(g, T, s, x):
    a = softmax(g.dst, s[g.src], g.N)
    return largest(g.dst, a[:, :, None] * x[g.src], g.N), largest(g.dst, a, g.N)
