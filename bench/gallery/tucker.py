CASE = dict(maps="head=src tail=dst rel=etype", sizes=dict(K=8, J=4), shapes=dict(c="K J K", z="R J", x="N K"), wrt="c z x")


def forward(g, T, c, z, x):
    m = T.einsum("ijk,rj->rik", c, z)
    return ((x[g.head][:, None] @ m[g.rel])[:, 0] * x[g.tail]).sum(1).sigmoid()
