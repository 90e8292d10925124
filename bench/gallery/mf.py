from formulas import degree, total

CASE = dict(sizes=dict(R=5, K=16, Q=16), shapes=dict(u="R K Q", w="R K Q", x="N K"), wrt="u w x")


def forward(g, T, u, w, x):
    h = total(g.dst, x[g.src], g.N)
    m = degree(g.dst, g.N, x).long().clamp(max=g.R - 1)
    return T.einsum("nk,nkq->nq", h, u[m]) + T.einsum("nk,nkq->nq", x, w[m])
