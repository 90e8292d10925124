CASE = dict(sizes=dict(K=8), shapes=dict(w="E", s="N K"), wrt="w s")


def forward(g, T, w, s):
    p = s.softmax(1)
    a, q = (w[:, None] * p[g.src]).t() @ p[g.dst], p.t() @ p
    eye = T.eye(g.K, dtype=s.dtype, device=s.device) * g.K ** -0.5
    return a, (q / q.norm() - eye).square().sum()
