CASE = dict(maps="head=src tail=dst rel=etype place=circle", sizes=dict(D=8), shapes=dict(z="R D", x="N D"), wrt="z x")


def forward(g, T, z, x):
    t = x[g.tail][:, g.place]
    return (z[g.rel] * (t @ x[g.head][:, :, None])[..., 0]).sum(1)
