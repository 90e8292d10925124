from formulas import softmax, total

CASE = dict(maps="src1 dst1 src2 dst2", sizes=dict(F=32), shapes=dict(l="2 N", r="2 N", c="F", q="F", x="N F"), wrt="l r c q x")


def forward(g, T, l, r, c, q, x):
    def kind(i, src, dst):
        s = T.nn.functional.leaky_relu(l[i, dst] + r[i, src], 0.2)
        return total(dst, softmax(dst, s, g.N)[:, None] * x[src], g.N).relu()
    o = T.stack((kind(0, g.src1, g.dst1), kind(1, g.src2, g.dst2)))
    w = ((o * c).tanh().mean(1) @ q).softmax(0)
    return (w[:, None, None] * o).sum(0)
