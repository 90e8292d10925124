from formulas import largest

CASE = dict(sizes=dict(K=8, Q=32), shapes=dict(x="N K", u="K Q", w="K Q"), wrt="x u w")


def forward(g, T, x, u, w):
    m = x[g.dst] @ u + (x[g.src] - x[g.dst]) @ w
    return largest(g.dst, m.relu(), g.N)
