from formulas import total

CASE = dict(sizes=dict(J=8, K=8, Q=16), shapes=dict(p="N 3", k="J 3", w="J K Q", x="N K"), wrt="p k w x")


def forward(g, T, p, k, w, x):
    d = (p[g.src] - p[g.dst])[:, None] - k
    h = (1 - 0.5 * (d.square().sum(-1) + 0.01).sqrt()).relu()
    s = total(g.dst, h[:, :, None] * x[g.src][:, None, :], g.N)
    return s.flatten(1) @ w.flatten(0, 1)
