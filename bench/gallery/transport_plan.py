CASE = dict(sizes=dict(D=16), shapes=dict(u="N", v="N", p="N D", q="N D"), wrt="u v p q")


def forward(g, T, u, v, p, q):
    c = (p[g.src] - q[g.dst]).square().sum(1)
    return ((u[g.src] + v[g.dst] - c).exp() * c).sum()
