from formulas import product, rows, smallest, total

CASE = dict(maps="var=src:E->V chk=dst:E->C", sizes=dict(B=32), wrt="w alpha beta llr m", ranges=dict(beta=(0.05, 0.1), llr=(-2, 2)),
            shapes=dict(w="E", alpha="E", beta="", llr="V B", m="E B"))


def forward(g, T, w, alpha, beta, llr, m):
    wm = w[:, None] * m
    q = (llr + total(g.var, wm, g.V))[g.var] - wm
    sign = T.where(q < 0, -1.0, 1.0).to(q.dtype)
    size = q.abs()
    one = smallest(g.chk, size, g.C, T.inf)
    at = T.arange(len(g.chk), device=q.device)[:, None].expand_as(q)
    at = at.where(size == one[g.chk], len(g.chk))
    first = at.new_full((g.C, q.shape[1]), len(g.chk)).scatter_reduce(0, rows(g.chk, at), at, "amin")
    mine = first[g.chk] == T.arange(len(g.chk), device=q.device)[:, None]
    two = smallest(g.chk, T.where(mine, T.inf, size), g.C, T.inf)
    least = T.where(mine, two[g.chk], one[g.chk]).clamp(max=20)
    r = alpha[:, None] * product(g.chk, sign, g.C)[g.chk] * sign * (least - beta).relu()
    return r, llr + total(g.var, r, g.V)
