from formulas import total

CASE = dict(maps="src dst first second", sizes=dict(F=16), shapes=dict(a="E F", b="E F"), wrt="a b")


def forward(g, T, a, b):
    m = total(g.first, (a[g.first] + b[g.second]).relu(), g.E)
    return total(g.dst, m, g.N)
