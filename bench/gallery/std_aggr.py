from formulas import mean

CASE = dict(sizes=dict(F=64), shapes=dict(x="N F"), wrt="x")


def forward(g, T, x):
    m = x[g.src]
    mu = mean(g.dst, m, g.N)
    return (mean(g.dst, (m - mu[g.dst]).square(), g.N) + 0.001).sqrt() / (1 + mu.abs())
