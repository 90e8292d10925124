from formulas import total

CASE = dict(maps="batch", sizes=dict(K=48, F=32), wrt="p w x", ranges=dict(p=(0, 6)),
            shapes=dict(p="N 3", wave="K 3", w="K F", x="N F"))


def forward(g, T, p, wave, w, x):
    a = p @ wave.T
    c, s = a.cos()[:, :, None], a.sin()[:, :, None]
    re, im = total(g.batch, c * x[:, None], g.G), total(g.batch, s * x[:, None], g.G)
    return (w * (c * re[g.batch] + s * im[g.batch])).sum(1)
