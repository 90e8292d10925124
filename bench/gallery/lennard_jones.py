from formulas import total

CASE = dict(maps="src dst kind=ntype batch", shapes=dict(s="S", d="S", p="N 3"), ranges=dict(s=(0.5, 1), d=(0.5, 1)), wrt="s d p")


def forward(g, T, s, d, p):
    a, b = g.kind[g.src], g.kind[g.dst]
    r = (p[g.src] - p[g.dst]).square().sum(1) + 0.3
    q = ((0.5 * (s[a] + s[b])) ** 2 / r) ** 3
    h = 4 * (d[a] * d[b]).sqrt() * (q * q - q)
    return 0.5 * total(g.batch[g.dst], h, g.G)
