CASE = dict(maps="field", sizes=dict(F=16), shapes=dict(z="W F"), wrt="z")


def forward(g, T, z):
    m = z[g.field]
    return (m @ m.transpose(1, 2)).triu(1)
