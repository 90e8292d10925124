CASE = dict(sizes=dict(F=32), shapes=dict(w="E", x="N F"), wrt="w x")


def forward(g, T, w, x):
    return (w * ((x[g.src] - x[g.dst]).square().sum(1) + 0.0001).sqrt()).mean()
