from formulas import total

CASE = dict(sizes=dict(F=32, K=64), wrt="x z ws wd wz b w2 b2 scale shift ux um c u2 c2 factor2 offset2",
            shapes=dict(x="N F", z="E F", ws="F K", wd="F K", wz="F K", b="K", w2="K F", b2="F", scale="F", shift="F",
                        ux="F K", um="F K", c="K", u2="K F", c2="F", factor2="F", offset2="F"))


def forward(g, T, x, z, ws, wd, wz, b, w2, b2, scale, shift, ux, um, c, u2, c2, factor2, offset2):
    def normed(hidden, w, bias, s, t):
        out = T.nn.functional.silu(hidden) @ w + bias
        return T.nn.functional.layer_norm(out, s.shape, s, t)
    m = normed((x @ ws)[g.src] + (x @ wd)[g.dst] + z @ wz + b, w2, b2, scale, shift)
    a = total(g.dst, m, g.N)
    return x + normed(x @ ux + a @ um + c, u2, c2, factor2, offset2), z + m
