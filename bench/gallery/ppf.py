from formulas import largest

CASE = dict(sizes=dict(F=16), shapes=dict(p="N 3", n="N 3", w="4 F"), wrt="p n w")


def forward(g, T, p, n, w):
    def angle(a, b):
        return T.atan2((T.linalg.cross(a, b).square().sum(1) + 0.0001).sqrt(), (a * b).sum(1))
    d, i, j = p[g.src] - p[g.dst], n[g.dst], n[g.src]
    a = T.stack(((d.square().sum(1) + 0.0001).sqrt(), angle(i, d), angle(j, d), angle(i, j)), 1)
    return largest(g.dst, (a @ w).tanh(), g.N)
