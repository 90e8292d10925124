from formulas import softmax, total

CASE = dict(maps="src dst type=etype", sizes=dict(H=2, D=8), wrt="q k x wk wv p",
            shapes=dict(q="N H D", k="N H D", x="N H D", wk="R H D D", wv="R H D D", p="R H"))


def forward(g, T, q, k, x, wk, wv, p):
    kr = T.einsum("nhi,rhij->rnhj", k, wk)
    xr = T.einsum("nhi,rhij->rnhj", x, wv)
    s = (q[g.dst] * kr[g.type, g.src]).sum(-1) * p[g.type] * q.shape[-1] ** -0.5
    return total(g.dst, softmax(g.dst, s, g.N)[:, :, None] * xr[g.type, g.src], g.N)
