from formulas import total

CASE = dict(sizes=dict(J=4, K=8, Q=16), shapes=dict(z="E J", w="J K Q", x="N K"), wrt="z w x")


def forward(g, T, z, w, x):
    m = (z @ w.flatten(1)).view(-1, *w.shape[1:])
    return total(g.dst, (x[g.src][:, None, :] @ m)[:, 0], g.N)
