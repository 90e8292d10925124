#!/usr/bin/env python3
"""Writes ops that nobody thought of, each with its gradient and the same formula in PyTorch, for gallery.py.

    random_ops.py FOLDER --ops=300 --seed=1
    gallery.py --folder=FOLDER --graphs=powerlaw --peers=eager --out=random.jsonl

A value has axes: E edges, N nodes, R types of edges, F and Q features, H heads. Steps draw values that there are, and make a new one:
bent by a function, combined with another, gathered, reduced, multiplied by a matrix, made a softmax. What no step read is a result.
"""
import argparse
import os
import random

SIZES = dict(F=[8, 16, 32, 64], Q=[8, 32], H=[2, 4, 8])
BENT = dict(relu="relu(%s)", tanh="tanh(%s)", sigmoid="sigmoid(%s)", abs="abs(%s)", sq="sq(%s)", sin="sin(%s)", exp="exp(-sq(%s))")
TORCH = dict(relu="(%s).relu()", tanh="(%s).tanh()", sigmoid="(%s).sigmoid()", abs="(%s).abs()", sq="(%s).square()", sin="(%s).sin()",
             exp="(-(%s).square()).exp()")
INDEX = dict(E="e", N="v", R="r", F="f", Q="q", H="h")
PARAMS = ["F", "R F", "", "H", "F Q", "R"]
INPUTS = ["N F", "N F", "N H F", "E", "E F", "N", "N H", "E H"]


class Op:
    def __init__(self, name, seed):
        self.name, self.draw = name, random.Random(seed)
        self.given, self.axes, self.read = {}, {}, set()
        self.said, self.torch = [], []

    # ---- Values -------------------------------------------------------------------------------------------------

    def take(self, shapes):
        """A value of one of these shapes: one that there is, or a new input."""
        some = [v for v, a in self.axes.items() if a in shapes]
        known = [s for s in shapes if s in PARAMS + INPUTS]
        if some and (not known or self.draw.random() < 0.8):
            fresh = [v for v in some if v not in self.read]
            v = self.draw.choice(fresh if fresh and self.draw.random() < 0.7 else some)
        elif known:
            v = "%s%d" % ("p" if known[0] in PARAMS else "x", len(self.given))
            self.axes[v] = self.given[v] = self.draw.choice(known)
        else:
            return None
        self.read.add(v)
        return v

    def make(self, axes, said, torch, reduced=""):
        v = "t%d" % len(self.said)
        self.said.append("%s[%s] = %s%s;" % (v, ", ".join(INDEX[a] for a in axes.split()), reduced, said))
        self.torch.append("%s = %s" % (v, torch))
        self.axes[v] = axes
        return v

    def at(self, v, end="e"):
        """The value at the point of a stage; end: how a stage of edges sees those of nodes."""
        axes = self.axes[v].split()
        return "%s[%s]" % (v, ", ".join(end if a == "N" else "type[e]" if a == "R" and end != "r" else INDEX[a] for a in axes))

    # ---- In PyTorch ---------------------------------------------------------------------------------------------

    def like(self, v, axes, end=None):
        """The same, with an axis of 1 for each that the value has not; nodes are gathered at an end of edges."""
        have, want = self.axes[v].split(), axes.split()
        text = v
        if end and "N" in have:
            text, have = "%s[g.%s]" % (v, end), ["E" if a == "N" else a for a in have]
        if "R" in have and "R" not in want:
            text, have = "%s[g.type]" % text, ["E" if a == "R" else a for a in have]
        shape = [":" if a in have else "None" for a in want]
        return text if "None" not in shape or not have else "%s[%s]" % (text, ", ".join(shape))

    # ---- Steps --------------------------------------------------------------------------------------------------

    def bent(self):
        v = self.take([a for a in set(self.axes.values()) if a])
        f = self.draw.choice(sorted(BENT))
        if v:
            self.make(self.axes[v], BENT[f] % self.at(v, "r" if self.axes[v][0] == "R" else "v"), TORCH[f] % v)

    def combined(self):
        v = self.take([a for a in set(self.axes.values()) if a.split()[:1] in (["N"], ["E"])])
        if not v:
            return
        axes = self.axes[v]
        inner = axes.split()[1:]
        fits = [axes] + [p for p in ("F", "H", "") if not p or p in inner] + (["E"] if axes[0] == "E" else ["N"])
        fits += ["R", "R F"][:1 + ("F" in inner)] if axes[0] == "E" else []
        w = self.take(fits)
        op = self.draw.choice("+-*")
        if w:
            self.make(axes, "%s %s %s" % (self.at(v, "v"), op, self.at(w, "v")), "%s %s %s" % (v, op, self.like(w, axes)))

    def gathered(self):
        """A value of edges from those of their two ends."""
        v = self.take([a for a in set(self.axes.values()) if a[:1] == "N"] or ["N F"])
        w = self.take([self.axes[v], "N"] if self.axes[v] != "N" else ["N"])
        one, other = self.draw.choice([("src", "dst"), ("dst", "src")])
        axes, op = "E" + self.axes[v][1:], self.draw.choice("+-*")
        self.make(axes, "%s %s %s" % (self.at(v, one + "[e]"), op, self.at(w, other + "[e]")),
                  "%s %s %s" % (self.like(v, axes, one), op, self.like(w, axes, other)))

    def reduced(self):
        """Of edges into nodes or into types."""
        v = self.take([a for a in set(self.axes.values()) if a[:1] == "E"])
        if not v:
            return
        kind, end = self.draw.choice(["sum", "sum", "mean", "max"]), self.draw.choice(["dst", "dst", "src", "type"])
        to, n = ("R", "g.R") if end == "type" else ("N", "g.N")
        if "R" in self.axes[v]:
            return
        made = dict(sum="total(g.%s, %s, %s)", mean="mean(g.%s, %s, %s)", max="largest(g.%s, %s, %s)")[kind] % (end, v, n)
        said = "%s{e : %s[e] == %s%s} %s" % (kind, end, INDEX[to], " else 0" if kind == "max" else "", self.at(v))
        self.make(to + self.axes[v][1:], said, made)

    def inside(self):
        """A sum over features or heads."""
        v = self.take([a for a in set(self.axes.values()) if len(a.split()) > 1 and a[0] in "EN"])
        if not v:
            return
        axes = self.axes[v].split()
        k = self.draw.randrange(1, len(axes))
        self.make(" ".join(axes[:k] + axes[k + 1:]), "sum{%s} %s" % (INDEX[axes[k]], self.at(v, "v")), "%s.sum(%d)" % (v, k))

    def product(self):
        """A dot product of two values of the same axes."""
        v = self.take([a for a in set(self.axes.values()) if a[-1:] == "F" and a[0] in "EN"])
        w = v and self.take([self.axes[v]])
        if w:
            axes = self.axes[v].split()[:-1]
            self.make(" ".join(axes), "sum{f} %s * %s" % (self.at(v, "v"), self.at(w, "v")), "(%s * %s).sum(-1)" % (v, w))

    def layer(self):
        v = self.take([a for a in set(self.axes.values()) if a in ("N F", "E F")])
        w = v and self.take(["F Q"])
        if w:
            self.make(self.axes[v][0] + " Q", "sum{f} %s * %s" % (self.at(v, "v"), self.at(w)), "%s @ %s" % (v, w))

    def softmax(self):
        v = self.take([a for a in set(self.axes.values()) if a in ("E", "E H")])
        if v:
            self.make(self.axes[v], "softmax(%s by dst)" % self.at(v), "softmax(g.dst, %s, g.N)" % v)

    # ---- All ----------------------------------------------------------------------------------------------------

    def build(self, steps):
        self.gathered()
        kinds = [self.bent, self.combined, self.combined, self.gathered, self.reduced, self.reduced, self.inside, self.product, self.layer,
                 self.softmax]
        for _ in range(50):
            if len(self.said) >= steps:
                break
            self.draw.choice(kinds)()

    def results(self):
        return [v for v in self.axes if v.startswith("t") and v not in self.read]

    def texts(self):
        out, used = self.results(), " ".join(self.axes.values()).split()
        sizes = {a: self.draw.choice(SIZES[a]) for a in sorted(SIZES) if a in used}
        typed = any(word in " ".join(self.said) for word in ("type[",)) or "R" in used
        maps = ["src: E -> N", "dst: E -> N sorted"] + (["type: E -> R"] if typed else [])
        shape = {v: "T[%s]" % ", ".join(a.split()) for v, a in self.axes.items()}
        gnn = "// Put together at random.\nop %s<T>(%s)\n    -> (%s) {\n    %s\n}\ngrad %s wrt (%s);\n" % (
            self.name, ", ".join(maps + ["%s: %s" % (v, shape[v]) for v in self.given]), ", ".join("%s: %s" % (v, shape[v]) for v in out),
            "\n    ".join(self.said), self.name, ", ".join(self.given))
        py = "from formulas import largest, mean, softmax, total\n\nCASE = dict(maps=%r, sizes=%r, shapes=%r, wrt=%r)\n\n\n" % (
            "src dst type=etype" if typed else "src dst", sizes, self.given, " ".join(self.given))
        py += "def forward(g, T, %s):\n    %s\n    return %s\n" % (", ".join(self.given), "\n    ".join(self.torch), ", ".join(out))
        return gnn, py


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("folder")
    p.add_argument("--ops", type=int, default=300)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=8, help="at most")
    o = p.parse_args()
    os.makedirs(o.folder, exist_ok=True)
    for i in range(o.ops):
        op = Op("r%03d" % i, o.seed * 100_000 + i)
        op.build(op.draw.randint(3, o.steps))
        for text, ending in zip(op.texts(), ("gnn", "py")):
            with open(os.path.join(o.folder, "%s.%s" % (op.name, ending)), "w") as f:
                f.write(text)


if __name__ == "__main__":
    main()
