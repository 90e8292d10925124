from formulas import mean

CASE = dict(maps="src1 dst1 src2 dst2", sizes=dict(F=64), shapes=dict(a="F", b="F", x="N F"), wrt="a b x")


def forward(g, T, a, b, x):
    p, q = mean(g.dst1, x[g.src1], g.N), mean(g.dst2, x[g.src2], g.N)
    return (x + a * p - b * q).tanh()
