from formulas import mean

CASE = dict(maps="src dst low=knot high=knot1", sizes=dict(K=8, Q=16), shapes=dict(t="E", w="A K Q", x="N K"), ranges=dict(t=(0, 1)),
            wrt="t w x")


def forward(g, T, t, w, x):
    m = (1 - t)[:, None, None] * w[g.low] + t[:, None, None] * w[g.high]
    return mean(g.dst, T.einsum("ek,ekq->eq", x[g.src], m), g.N)
