from formulas import total

CASE = dict(maps="src dst type=etype", shapes=dict(w="E"), ranges=dict(w=(0.1, 1)), wrt="w")


def forward(g, T, w):
    c = total(g.dst * g.R + g.type, w, g.N * g.R).view(g.N, g.R)
    s = c.sum(1)
    return c, (s + 0.01).log() - (c * (c + 0.01).log()).sum(1) / (s + 0.01)
