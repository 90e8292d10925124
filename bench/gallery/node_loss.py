CASE = dict(maps="src dst label", shapes=dict(train="N", x="N C"), types=dict(train="bool"), wrt="x")


def forward(g, T, train, x):
    l = -x.log_softmax(1).gather(1, g.label[:, None])[:, 0]
    return T.stack(((l * train).sum() / train.sum(), (x[g.src] - x[g.dst]).square().mean()))
