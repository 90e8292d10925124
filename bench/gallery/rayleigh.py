CASE = dict(sizes=dict(F=16), shapes=dict(w="E", x="N F"), wrt="w x")


def forward(g, T, w, x):
    q = x.t() @ x
    y = (w[:, None] * (x[g.src] - x[g.dst]).square()).sum(0) / (q.diagonal() + 1)
    return y, (q / g.N - T.eye(g.F, dtype=x.dtype, device=x.device)).square().sum()
