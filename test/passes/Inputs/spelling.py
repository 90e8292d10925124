"""Spells ops in several ways, with equations, the indices of each reduction, its conditions and their sides in another order, and
indices, parameters, results and stages called otherwise, and demands one SIMT text of all spellings but for those names.
Usage: spelling.py GNNC SEED FOLDER"""
import random
import re
import subprocess
import sys

EDGES = "src: E -> N, dst: E -> N sorted"
# Name, parameters, results, indices, what there is a gradient of, equations. (binders | conditions) are a reduction's.
OPS = [
    ("two", EDGES + ", x: f32[N, F]", "y: f32[N, F]", "abvf", "x",
     ["y[v, f] = sum(a, b | dst[a] == v & dst[b] == src[a]) x[src[b], f]"]),
    ("three", EDGES + ", w: f32[E]", "y: f32[]", "abc", "w",
     ["y[] = sum(a, b, c | dst[b] == src[a] & dst[c] == src[b]) w[a] * w[b] * w[c]"]),
    ("prefix", "at: E -> N sorted, w: f32[E]", "y: f32[E]", "ei", "w", ["y[e] = sum(i | at[i] == at[e] & i <= e) w[i]"]),
    ("all", EDGES + ", x: f32[N, H, D], g: f32[E, H, D]", "y: f32[H]", "edh", "x, g",
     ["y[h] = sum(e, d | ) x[src[e], h, d] * g[e, h, d]"]),
    ("some", "src: E -> N, dst: E -> N partial, t: f32[E], x: f32[N, F]", "y: f32[N, F]", "evf", "x",
     ["y[v, f] = sum(e | dst[e] == v & t[e] > 0.5 & src[e] != v) x[src[e], f]"]),
    ("inner", EDGES + ", x: f32[N, F], w: f32[F, Q]", "y: f32[N, Q]", "abvqf", "",
     ["y[v, q] = sum(a, b | dst[a] == v & dst[b] == src[a]) relu(sum(f | ) x[src[a], f] * w[f, q] * x[src[b], f])"]),
    ("typed", EDGES + ", type: E -> R, c: f32[R, B], x: f32[N, K]", "y: f32[N, K]", "evbk", "c, x",
     ["y[v, k] = sum(e, b | dst[e] == v) c[type[e], b] * x[src[e], k]"]),
    ("gt", EDGES + ", q: f32[N, H, D], k: f32[N, H, D], x: f32[N, H, D]", "y: f32[N, H, D]", "eivhd", "q, k, x",
     ["s[e, h] = sum(d | ) q[dst[e], h, d] * k[src[e], h, d]", "a[e, h] = softmax(s[e, h] by dst)",
      "y[v, h, d] = sum(e | dst[e] == v) a[e, h] * x[src[e], h, d]"]),
    ("gat", EDGES + ", l: f32[N, H], r: f32[N, H], x: f32[N, H, D]", "y: f32[N, H, D]", "evhd", "l, r, x",
     ["s[e, h] = leaky_relu(l[dst[e], h] + r[src[e], h], 0.2)", "a[e, h] = softmax(s[e, h] by dst)",
      "y[v, h, d] = sum(e | dst[e] == v) a[e, h] * x[src[e], h, d]"]),
    ("gated", EDGES + ", a: f32[N, F], b: f32[N, F], g: f32[E, F]", "y: f32[N, F], z: f32[E, F]", "evf", "a, b, g",
     ["r[e, f] = a[dst[e], f] + b[src[e], f] + g[e, f]", "m[f] = sum(e | ) r[e, f]", "z[e, f] = relu(r[e, f] - m[f])",
      "n[v, f] = sum(e | dst[e] == v) sigmoid(r[e, f]) * b[src[e], f]", "d[v, f] = sum(e | dst[e] == v) sigmoid(r[e, f])",
      "y[v, f] = n[v, f] / (d[v, f] + 1)"]),
    ("norm", EDGES + ", w: f32[E], x: f32[N, K], p: f32[K, F]", "y: f32[N, F]", "nkevf", "x, p",
     ["h[n, f] = sum(k | ) x[n, k] * p[k, f]", "d[n] = sum(e | dst[e] == n) w[e]", "c[n] = rsqrt(1 + d[n])",
      "y[v, f] = sum(e | dst[e] == v) c[v] * w[e] * c[src[e]] * h[src[e], f]"]),
    ("sides", "batch: N -> G sorted, x: f32[N, F], t: f32[N]", "y: f32[G, 3, F]", "ngf", "x, t",
     ["a[n] = softmax(t[n] by batch)", "y[g, 0, f] = sum(n | batch[n] == g) x[n, f]",
      "y[g, 1, f] = max(n | batch[n] == g) x[n, f]", "y[g, 2, f] = sum(n | batch[n] == g) a[n] * x[n, f]"]),
    ("own", "batch: N -> G sorted, x: f32[N, F]", "y: f32[G, 3, F]", "ngf", "",
     ["y[g, 0, f] = sum(n | batch[n] == g) x[n, f]", "y[g, 1, f] = max(n | batch[n] == g) x[n, f]",
      "y[g, 2, f] = y[g, 0, f] * 2"]),
    ("steps", EDGES + ", w: f32[E], x: f32[N, F]", "y: f32[N, F], m: f32[F], q: f32[N]", "etvf", "x",
     ["d[v] = sum(e | dst[e] == v) w[e]", "c[e] = w[e] / (1 + d[dst[e]])", "m[f] = max(v | ) x[v, f]",
      "z[0, v, f] = x[v, f] - m[f]", "q[v] = sqrt(1 + d[v] * d[v])",
      "z[t + 1, v, f] = sum(e | dst[e] == v) c[e] * z[t, src[e], f] + 0.5 * x[v, f] for t in 3",
      "y[v, f] = z[3, v, f] * d[v]"]),
    ("twice", EDGES + ", w: f32[E], x: f32[N]", "y: f32[N], p: f32[N]", "etv", "w, x",
     ["a[0, v] = x[v]", "b[0, v] = 2 * x[v]", "b[1, v] = sum(e | dst[e] == v) x[src[e]]",
      "a[t + 1, v] = sum(e | dst[e] == v) w[e] * a[t, src[e]] for t in 2",
      "b[t + 2, v] = b[t + 1, v] + sum(e | dst[e] == v) b[t, src[e]] for t in 2",
      "y[v] = a[2, v] + b[3, v]", "p[v] = a[1, v]"]),
    ("place", EDGES + ", x: f32[N, F], u: f32[N, F]", "y: f32[N, F] inplace(x), z: f32[N, F], w: f32[N, F] inplace(u)",
     "evf", "",
     ["h[v, f] = sum(e | dst[e] == v) x[src[e], f]", "m[f] = max(v | ) u[v, f]", "z[v, f] = x[v, f] - h[v, f]",
      "g[v, f] = relu(h[v, f])", "y[v, f] = 0.9 * x[v, f] + g[v, f]", "w[v, f] = u[v, f] - m[f] * h[v, f]"]),
]
SPELLINGS = 3


def reduction(binders, conditions, rng):
    binders, conditions = binders.split(", "), [c for c in conditions.strip().split(" & ") if c]
    for order in (binders, conditions):
        rng.shuffle(order)
    sides = [" == ".join(rng.sample(c.split(" == "), 2)) if " == " in c else c for c in conditions]
    return "{" + ", ".join(binders) + (" : " + " && ".join(sides) if sides else "") + "}"


def spell(equation, indices, rng):
    equation = re.sub(r"\(([a-z, ]+) \|([^()]*)\)", lambda m: reduction(m[1], m[2], rng), equation)
    names = {i: rng.choice([i, i + "0", "j" + i]) for i in indices}
    return re.sub(r"\b([a-z])\b(?!\[)", lambda m: names.get(m[1], m[1]), equation)


def accesses(text):
    """Names of values, and which of their axes have a number there."""
    return [(name, dict((k, int(i)) for k, i in enumerate(index.split(", ")) if i.isdigit()))
            for name, index in re.findall(r"\b(\w+)\[((?:[^\[\]]|\[[^\]]*\])*)\]", text)]


def meet(some, others):
    return any(a == b and all(at.get(k, n) == n for k, n in there.items()) for a, at in some for b, there in others)


def reorder(equations, results, rng):
    """The equations in a random order in which each stands behind those of what it reads, and behind those that read the
    parameter in whose memory its result lies."""
    places = dict(re.findall(r"(\w+): \S+?\[[^\]]*\] inplace\((\w+)\)", results))
    defined = [accesses(e.split(" = ")[0]) for e in equations]
    read = [accesses(e.split(" = ", 1)[1]) for e in equations]
    behind = [[(places[name], {}) for name, _ in d if name in places] for d in defined]
    left, out = list(range(len(equations))), []
    while left:
        ready = [i for i in left if not any(meet(defined[j], read[i]) or meet(behind[i], read[j]) for j in left if j != i)]
        out.append(rng.choice(ready))
        left.remove(out[-1])
    return [equations[i] for i in out]


def values_of(params, results, equations):
    """Names of parameters, results and stages."""
    declared = re.findall(r"(\w+):", params + ", " + results)
    return sorted(set(declared + [e.split("[")[0] for e in equations]))


def call(text, called):
    """Every value by the name it is called here: names stand before a bracket, a colon, or behind 'by'."""
    text = re.sub(r"\b(\w+)(?=\[|:)", lambda m: called.get(m[1], m[1]), text)
    text = re.sub(r"\binplace\((\w+)", lambda m: "inplace(" + called.get(m[1], m[1]), text)
    return re.sub(r"\bby (\w+)", lambda m: "by " + called.get(m[1], m[1]), text)


def write(out, rng):
    """Names of ops, and of each what its values are called."""
    names = {}
    for name, params, results, indices, wrt, equations in OPS:
        for k in range(SPELLINGS):
            values = values_of(params, results, equations)
            called = {v: "%s%d" % (rng.choice(["zz", "aa", "mm"]), i) for i, v in enumerate(values)} if k else {}
            ordered = reorder(equations, results, rng) if k else equations
            body = "".join("    %s;\n" % call(spell(e, indices, rng), called) for e in ordered)
            out.write("op %s_%d(%s) -> (%s) {\n%s}\n" % (name, k, call(params, called), call(results, called), body))
            if wrt:
                wrts = ", ".join(called.get(v, v) for v in wrt.split(", "))
                out.write("grad %s_%d wrt (%s);\n" % (name, k, wrts))
            names.update(("%s_%d%s" % (name, k, s), called) for s in ([""] + [".grad"] * bool(wrt)))
    return names


def as_first(text, called):
    """The text with values called as those of the first spelling, and kernels by numbers: an equation of several for one result
    is called by its place."""
    back = {new: old for old, new in called.items()}
    kernels = re.findall(r"^kernel (\w+)", text, re.MULTILINE)
    text = re.sub(r"\w+", lambda m: "kernel%d" % kernels.index(m[0]) if m[0] in kernels else m[0], text)
    return re.sub(r"(zz|aa|mm)\d+", lambda m: back[m[0]], text)


def main():
    gnnc, seed, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    path = folder + "/spelled.gnn"
    with open(path, "w") as out:
        names = write(out, random.Random(seed))
    subprocess.run([gnnc, path, "--emit=simt", "--arch=sm_90a", "-D", "D=64", "-D", "H=2", "-D", "F=32", "-o", folder + "/"]
                   + ["--op=" + n for n in names], check=True)
    texts = {}
    for n in names:
        file = n.replace(".", "_")
        with open("%s/%s.simt" % (folder, file)) as text:
            texts[n] = as_first(re.sub(r"\b%s" % re.sub(r"\d", r"\\d", file), "op", text.read()), names[n])
    differ = [n for n in names if texts[n] != texts[re.sub(r"_\d", "_0", n)]]
    for n in differ:
        print("%s is not compiled as %s is: seed %d, %s" % (n, re.sub(r"_\d", "_0", n), seed, path))
    print("%d of %d spellings are one op" % (len(names) - len(differ), len(names)))
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
