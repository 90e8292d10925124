CASE = dict(maps="src dst kind=etype", shapes=dict(a="N R", b="N R"), wrt="a b")


def forward(g, T, a, b):
    s = (a[g.src] + b[g.dst]).log_softmax(1)
    l = s.gather(1, g.kind[:, None])[:, 0]
    return -((1 - l.exp()).square() * l).mean()
