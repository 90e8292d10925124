from formulas import total

# Where long rows meet, there are too many pairs for PyTorch, which needs the list of them.
CASE = dict(graphs="road molecules star", also="join_a join_b", sizes=dict(F=16), shapes=dict(p="E F", q="E F"), wrt="p q")


def forward(g, T, p, q):
    return total(g.dst[g.join_a], (p[g.join_a] + q[g.join_b]).relu(), g.N)
