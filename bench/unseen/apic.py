from formulas import total

CASE = dict(maps="grid=nb:P->G", sizes=dict(J=8), wrt="f mass u c pull", ranges=dict(o=(0, 1), f=(0, 1), mass=(0.5, 1.5)),
            shapes=dict(o="J 3", f="P 3", mass="P", u="P 3", c="P 3 3", pull="3"))


def forward(g, T, o, f, mass, u, c, pull):
    at, off = g.grid.reshape(-1), o - f[:, None]
    w = (o * f[:, None] + (1 - o) * (1 - f[:, None])).prod(2)
    wm = w * mass[:, None]
    m = total(at, wm.reshape(-1), g.G)
    q = wm[:, :, None] * (u[:, None] + T.einsum("pik,pjk->pji", c, off))
    q = total(at, q.reshape(-1, 3), g.G)
    full = (m > 1e-3)[:, None]
    a = T.where(full, q / T.where(full, m[:, None], 1) + 0.01 * pull, 0)
    wa = w[:, :, None] * a[g.grid]
    return wa.sum(1), 4 * T.einsum("pji,pjk->pik", wa, off)
