CASE = dict(maps="head=src tail=dst rel=etype", sizes=dict(K=16, Q=8), shapes=dict(w="R K Q", z="R Q", x="N K"), wrt="w z x")


def forward(g, T, w, z, x):
    d = (x[g.head] - x[g.tail])[:, None, :] @ w[g.rel]
    return (z[g.rel] + d[:, 0]).square().sum(1)
