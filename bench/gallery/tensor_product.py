from formulas import total

CASE = dict(sizes=dict(I=4, J=4, K=4, F=8), shapes=dict(c="I J K", s="E J", w="E F", x="N F I"), wrt="s w x")


def forward(g, T, c, s, w, x):
    m = T.einsum("ijk,ej->eik", c, s)
    return total(g.dst, w[:, :, None] * (x[g.src] @ m), g.N)
