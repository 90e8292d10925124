from formulas import largest, mean, product, smallest, softmax, total, variance

CASE = dict(maps="batch", sizes=dict(F=32), shapes=dict(x="N F"), wrt="x")


def forward(g, T, x):
    at, n = g.batch, g.G
    v = variance(at, x, n)
    return T.stack((total(at, x, n), mean(at, x, n), largest(at, x, n), smallest(at, x, n), product(at, x, n), v, (v + 1e-5).sqrt(),
                    total(at, softmax(at, x, n) * x, n)), 1)
