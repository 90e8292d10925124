from formulas import largest, total

CASE = dict(maps="src dst rel=etype", sizes=dict(F=32), shapes=dict(z="R F", h="N F", x="N F"), wrt="z h x")


def forward(g, T, z, h, x):
    m = x[g.src] * z[g.rel]
    s = h + total(g.dst, m, g.N)
    top = T.maximum(h, largest(g.dst, m, g.N, -T.inf))
    return T.nn.functional.layer_norm(s, s.shape[1:], eps=0.001) + top
