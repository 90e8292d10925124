CASE = dict(maps="nb", sizes=dict(F=64), shapes=dict(w="5 F", x="N F"), wrt="w x")


def forward(g, T, w, x):
    a, b, c, d = (x[g.nb[:, k]] for k in range(4))
    return w[0] * x + w[1] * (a - c).abs() + w[2] * (a + c) + w[3] * (b - d).abs() + w[4] * (b + d)
