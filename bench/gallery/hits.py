from formulas import total

CASE = dict(shapes=dict(w="E", h="N"), ranges=dict(w=(0.1, 1), h=(0.1, 1)), wrt="w h")


def forward(g, T, w, h):
    p = total(g.dst, w * h[g.src], g.N)
    a = p / p.sum()
    q = total(g.src, w * a[g.dst], g.N)
    return a, q / q.sum()
