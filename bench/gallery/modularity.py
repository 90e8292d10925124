from formulas import degree

CASE = dict(sizes=dict(K=16), shapes=dict(s="N K"), wrt="s")


def forward(g, T, s):
    p = s.softmax(1)
    a = (p[g.src] * p[g.dst]).sum()
    d = degree(g.dst, g.N, s) @ p
    return T.stack((-(a - d.square().sum() / g.E) / g.E, p.sum(0).norm() * g.K ** 0.5 / g.N - 1))
