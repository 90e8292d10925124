CASE = dict(sizes=dict(K=8, F=16), shapes=dict(p="N 3", q="K", w="K F"), ranges=dict(q=(1, 20)), wrt="p q w")


def forward(g, T, p, q, w):
    r = ((p[g.src] - p[g.dst]).square().sum(1) + 0.01).sqrt() / 4
    c = 1 / r - 28 * r ** 5 + 48 * r ** 6 - 21 * r ** 7
    return (c[:, None] * (q * r[:, None]).sin()) @ w
