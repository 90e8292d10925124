from formulas import total

CASE = dict(graphs="molecules dense", maps="src dst batch", also="mate_a mate_b", shapes=dict(k="", p="N 2"), ranges=dict(k=(0.5, 1)), wrt="k p")


def forward(g, T, k, p):
    d = p[g.mate_a] - p[g.mate_b]
    f = total(g.mate_a, d / (d.square().sum(1, keepdim=True) + 0.1), g.N)
    d = p[g.src] - p[g.dst]
    s = total(g.dst, d * (d.square().sum(1, keepdim=True) + 0.01).sqrt(), g.N)
    return p + 0.05 * (k * f + s / k).tanh()
