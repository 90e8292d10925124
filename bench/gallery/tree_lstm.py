from formulas import total

CASE = dict(maps="parent", sizes=dict(F=32), shapes=dict(a="N 4 F", u="4 F", h="N F", c="N F"), wrt="a u h c")


def forward(g, T, a, u, h, c):
    there, at = (g.parent >= 0)[:, None], g.parent.clamp(min=0)
    s = total(at, there * h, g.N)
    k = total(at, there * (a[at, 3] + u[3] * h).sigmoid() * c, g.N)
    i, o, m = ((a[:, j] + u[j] * s) for j in range(3))
    cy = i.sigmoid() * m.tanh() + k
    return o.sigmoid() * cy.tanh(), cy
