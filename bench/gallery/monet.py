from formulas import mean

CASE = dict(sizes=dict(M=4, D=2, F=16), shapes=dict(p="E D", mu="M D", s="M D", x="N M F"), wrt="p mu s x")


def forward(g, T, p, mu, s, x):
    c = (-0.5 * ((p[:, None] - mu) * s).square().sum(-1)).exp()
    return mean(g.dst, (c[:, :, None] * x[g.src]).sum(1), g.N)
