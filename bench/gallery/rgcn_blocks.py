from formulas import degree, total

CASE = dict(maps="src dst type=etype", sizes=dict(B=8, K=4), shapes=dict(x="N B K", w="R B K K"), wrt="x w")


def forward(g, T, x, w):
    at = g.dst * g.R + g.type
    c = 1 / degree(at, g.N * g.R, x)[at]
    m = T.einsum("ebk,ebkq->ebq", x[g.src], w[g.type])
    return total(g.dst, c[:, None, None] * m, g.N)
