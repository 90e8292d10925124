from formulas import softmax, total

CASE = dict(maps="src dst first second", sizes=dict(H=4, D=8, K=16, F=32), wrt="p mu w q k x gate o", ranges=dict(mu=(0, 2)),
            shapes=dict(p="N 3", mu="K", w="K H", q="E H D", k="E H D", x="E H D", gate="E H D", o="H D F"))


def forward(g, T, p, mu, w, q, k, x, gate, o):
    r = ((p[g.dst[g.first]] - p[g.src[g.second]]).square().sum(1) + 1e-6).sqrt()
    b = (-4 * (r[:, None] - mu).square()).exp() @ w
    a = softmax(g.first, (q[g.first] * k[g.second]).sum(2) * q.shape[2] ** -0.5 + b, g.E)
    u = gate.sigmoid() * total(g.first, a[:, :, None] * x[g.second], g.E)
    return T.einsum("ehd,hdf->ef", u, o)
