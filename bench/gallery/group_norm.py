CASE = dict(maps="", sizes=dict(F=32, K=4), shapes=dict(w="F K", c="K F", b="K F", x="N F"), wrt="w c b x")


def forward(g, T, w, c, b, x):
    s = (x @ w).softmax(1)
    o = s[:, :, None] * x[:, None, :]
    d = o - o.mean(0)
    return x + 0.01 * (d * (d.square().mean(0) + 1e-5).rsqrt() * c + b).sum(1)
