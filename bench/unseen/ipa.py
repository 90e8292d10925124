from formulas import softmax, total

CASE = dict(sizes=dict(H=4, D=16, P=4, C=32), wrt="rot pos q k x qp kp xp z wb gamma",
            shapes=dict(rot="N 3 3", pos="N 3", q="N H D", k="N H D", x="N H D", qp="N H P 3", kp="N H P 3", xp="N H P 3", z="E C",
                        wb="C H", gamma="H"))


def forward(g, T, rot, pos, q, k, x, qp, kp, xp, z, wb, gamma):
    def placed(points):
        return T.einsum("nij,nhpj->nhpi", rot, points) + pos[:, None, None]
    far = (placed(qp)[g.dst] - placed(kp)[g.src]).square().sum((2, 3))
    s = (q[g.dst] * k[g.src]).sum(2) * q.shape[2] ** -0.5 + z @ wb
    s = (s - 0.5 * T.nn.functional.softplus(gamma) * (2 / (9 * qp.shape[2])) ** 0.5 * far) * (1 / 3) ** 0.5
    a = softmax(g.dst, s, g.N)
    y = total(g.dst, a[:, :, None] * x[g.src], g.N)
    t = total(g.dst, a[:, :, None, None] * placed(xp)[g.src], g.N)
    yp = T.einsum("nij,nhpi->nhpj", rot, t - pos[:, None, None])
    return y, yp, (yp.square().sum(3) + 1e-8).sqrt(), total(g.dst, a[:, :, None] * z[:, None], g.N)
