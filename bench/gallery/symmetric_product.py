from formulas import total

CASE = dict(sizes=dict(I=4, K=4, F=16), shapes=dict(c="I I K", s="E I", x="N F"), wrt="s x")


def forward(g, T, c, s, x):
    a = total(g.dst, s[:, None, :] * x[g.src][:, :, None], g.N)
    return T.einsum("ijk,nfi,nfj->nfk", c, a, a)
