from formulas import total

CASE = dict(sizes=dict(F=32, Q=32, C=8, K=4), wrt="x z wg we w b",
            shapes=dict(x="N F", z="E C", wg="F K", we="C K", w="K F Q", b="K Q"))


def forward(g, T, x, z, wg, we, w, b):
    p = ((x @ wg)[g.src] + z @ we).softmax(1)
    top, best = p.max(1)
    out = T.einsum("nf,kfq->nkq", x, w)[g.src, best] + b[best]
    share = T.nn.functional.one_hot(best, p.shape[1]).to(p.dtype).mean(0)
    return total(g.dst, top[:, None] * out.relu(), g.N), p.shape[1] * (share * p.mean(0)).sum()
