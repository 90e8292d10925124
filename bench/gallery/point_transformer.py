from formulas import softmax, total

CASE = dict(sizes=dict(F=32), shapes=dict(p="N 3", w="3 F", q="N F", k="N F", x="N F"), wrt="p w q k x")


def forward(g, T, p, w, q, k, x):
    c = (p[g.dst] - p[g.src]) @ w
    a = softmax(g.dst, (q[g.dst] - k[g.src] + c).relu(), g.N)
    return total(g.dst, a * (x[g.src] + c), g.N)
