from formulas import total

CASE = dict(maps="src dst back", sizes=dict(C=8), shapes=dict(b="N C", t="C C", m="E C"), wrt="b t m")


def forward(g, T, b, t, m):
    s = b + total(g.dst, m, g.N)
    q = s[g.src] - (g.back >= 0)[:, None] * m[g.back.clamp(min=0)]
    r = (q[:, :, None] + t).logsumexp(1)
    return r - r.mean(1, keepdim=True)
