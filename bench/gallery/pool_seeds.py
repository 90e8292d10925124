from formulas import softmax, total

CASE = dict(maps="batch", sizes=dict(K=4, H=4, D=8), shapes=dict(s="K H D", k="N H D", x="N H D"), wrt="s k x")


def forward(g, T, s, k, x):
    score = T.einsum("khd,nhd->nkh", s, k) * k.shape[-1] ** -0.5
    a = softmax(g.batch, score, g.G)
    return total(g.batch, a[..., None] * x[:, None], g.G)
