from formulas import total

CASE = dict(sizes=dict(F=16, Q=16), wrt="s w0 wr wi vr vi x",
            shapes=dict(turn="E 9 9", s="E F", w0="3 3 F Q", wr="2 2 F Q", wi="2 2 F Q", vr="F Q", vi="F Q", x="N 9 F"))


def forward(g, T, turn, s, w0, wr, wi, vr, vi, x):
    r = s[:, None] * (turn @ x[g.src])
    def mixed(parts, w):
        return T.einsum("eaf,abfq->ebq", parts, w)
    p, m, u, d = r[:, 3:5], r[:, 5:7], r[:, 7], r[:, 8]
    h = T.cat((mixed(r[:, :3], w0), mixed(p, wr) - mixed(m, wi), mixed(p, wi) + mixed(m, wr),
               (u @ vr - d @ vi)[:, None], (u @ vi + d @ vr)[:, None]), 1)
    return total(g.dst, turn.transpose(1, 2) @ h, g.N)
