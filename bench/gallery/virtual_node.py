from formulas import total

CASE = dict(maps="src dst batch", sizes=dict(F=64), shapes=dict(a="F", z="G F", x="N F"), wrt="a z x")


def forward(g, T, a, z, x):
    u = (z + total(g.batch, x, g.G)).relu()
    return (x + a * u[g.batch] + total(g.dst, x[g.src], g.N)).relu(), u
