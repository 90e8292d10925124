from formulas import softmax, total

CASE = dict(maps="src dst type=etype", sizes=dict(H=4, D=16), shapes=dict(l="N H", r="N H", b="R H", x="N H D"), wrt="l r b x")


def forward(g, T, l, r, b, x):
    s = T.nn.functional.leaky_relu(l[g.dst] + r[g.src] + b[g.type], 0.2)
    a = softmax(g.dst * g.R + g.type, s, g.N * g.R)
    return total(g.dst, a[:, :, None] * x[g.src], g.N)
