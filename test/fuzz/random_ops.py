#!/usr/bin/env python3
"""Random well-typed ops, compiled by the naive plan, run on the host and compared with their definition.

Usage: random_ops.py GNNC [--cases N] [--seed S] [--jobs 2] [--save DIR] [--first I]

A case is a file of one op `main` (with helper ops, functions and reducers) and a command line; both follow from the seed
and the number of the case alone; policies.py says what the number decides. Everything generated is valid by construction, so any status but 0 is a fault. What the
sizes of a case do not allow (E0819, E0820) counts as refused. A fault is saved to DIR as it is and made smaller: results,
equations and subexpressions are dropped while it fails in the same way. The exit status is 1 if there was a fault.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import time

import policies

TIMEOUT = 30
REFUSED = {"E0819", "E0820"}   # sizes that do not go together

HELPERS = """\
fn f_mix(a, b) = a * 0.5 + b;
fn f_bend(a) = a < 0 ? expm1(a) : a;
fn f_pick(a, b, c) = a > b ? c : a;
fn f_twice(a) = a + a;
fn f_spread(a) = a + sum{j in 2} a * 0.5;
fn f_rest(a) = a - max{j in 3 : a > 0 else a} (a * 0.25);
fn f_share(x by k) = ratio(x, sum(abs(x) by k));
fn f_centre(x by k) = x - mean(x by k);

reducer r_last(x) -> (y) {
    state (v, n);  identity (0, 0);  lift (x, 1);  combine (n' > 0 ? v' : v, n + n');  finish (v);
}
reducer r_affine(a, b) -> (p, q) {
    state (s, t);  identity (1, 0);  lift (a, b);  combine (s * s', s' * t + t');  finish (s, t);
}
reducer r_span(x) -> (y) commutative {
    state (l, h);  identity (inf, -inf);  lift (x, x);  combine (min(l, l'), max(h, h'));  finish (h - l);
}

op gather<T>(m: P -> Q, x: T[P, J]) -> (y: T[Q, J]) { y[q, j] = sum{p : m[p] == q} x[p, j]; }
op around<T>(m: P -> Q, x: T[P, J]) -> (y: T[P, J], z: T[Q, J]) {
    z = gather(m, x);
    y[p, j] = z[m[p], j] - x[p, j];
}
op fold<R: reducer, G: fn, T>(m: P -> Q, x: T[P, J]) -> (y: T[Q, J]) {
    y[q, j] = R{p : m[p] == q else 0} (1.0 * G(x[p, j]));
}
op moments<T>(x: T[P, J]) -> (mu: T[P], var: T[P]) { mu[p], var[p] = welford{j} x[p, j]; }

"""

UNARY = ["exp(%s)", "log(abs(%s))", "sqrt(abs(%s))", "tanh(%s)", "sin(%s)", "cos(%s)", "erf(%s)", "expm1(%s)", "log1p(abs(%s))",
         "relu(%s)", "sigmoid(%s)", "leaky_relu(%s, 0.1)", "sq(%s)", "abs(%s)", "floor(%s)", "ceil(%s)", "gelu(%s)",
         "softplus(%s)", "stop(%s)", "f_bend(%s)", "f_twice(%s)", "f_spread(%s)", "f_rest(%s)", "f16(%s)", "bf16(%s)", "f32(%s)", "f64(%s)", "(-%s)",
         "rsqrt(1 + sq(%s))", "clamp(%s, -2, 3)", "elu(%s)", "silu(%s)"]
BINARY = ["(%s + %s)", "(%s - %s)", "%s * %s", "(%s / %s)", "min(%s, %s)", "max(%s, %s)", "pow(abs(%s), %s)", "f_mix(%s, %s)",
          "ratio(%s, %s)", "shifted(%s, %s)", "(%s + %s)", "%s * %s"]
INTEGER = ["(%s + %s)", "(%s - %s)", "%s * %s", "%s %% (%s)", "min(%s, %s)", "max(%s, %s)", "%s * %s"]
REDUCERS = ["sum", "sum", "sum", "prod", "max", "min", "mean", "variance", "deviation", "logsumexp", "count", "r_last", "r_span"]
PAIRS = [("welford", 1), ("top2", 1), ("r_affine", 2)]
NORMALISERS = ["softmax", "sum", "max", "min", "mean", "f_share", "f_centre", "logsumexp", "prod"]
FLOATS = ["f32", "f32", "f32", "f64", "f16", "bf16"]
GRAPHS = ["er:9:20", "empty:0", "empty:4", "star:7", "path:6", "er:1:3", "er:12:30,types=4", "grid:3:4", "clique:5", "rmat:3:5,types=3",
          "batch:3:4:0.5"]
LITERAL = {"f": "1.5", "i": "1", "b": "true"}


class Expr:
    """Text in parts; kind f, i or b where a literal may stand instead, or None."""

    def __init__(self, kind, *parts):
        self.kind, self.parts = kind, list(parts)

    def __str__(self):
        return "".join(str(p) for p in self.parts)

    def children(self):
        return [p for p in self.parts if isinstance(p, Expr)]


class Space:
    def __init__(self, name, size, text=None):
        self.name, self.size, self.text = name, size, text or name


class Value:
    """What has axes: a tensor, map, scalar or intermediate. kind f, i, b or x (index of `into`)."""

    def __init__(self, name, kind, axes, into=None, facts=(), scalar=False, parameter=False):
        self.name, self.kind, self.axes, self.into, self.facts = name, kind, axes, into, set(facts)
        self.scalar, self.parameter = scalar, parameter


class Scope:
    """Indices at hand (name, space), texts known not to be none, points so far."""

    def __init__(self, indices, known=(), points=1, depth=0):
        self.indices, self.known, self.points, self.depth = list(indices), set(known), points, depth
        self.made = []   # real expressions that mean something here, to be repeated

    def bare(self):
        return Scope(self.indices, (), self.points, self.depth)

    def inside(self, indices=(), known=(), points=1):
        scope = Scope(self.indices + list(indices), self.known | set(known), self.points * points, self.depth + 1)
        scope.made = [e for e in self.made if not indices or " by " not in str(e)]   # 'by' wants one index of its space
        return scope


class Equation:
    def __init__(self, left, value, binders=""):
        self.left, self.value, self.binders = left, value, binders

    def __str__(self):
        return "    %s = %s%s;" % (self.left, self.value, self.binders)


class Case:
    UNIFORM = "rand(%s)"

    def __init__(self, rng, policy=None):
        self.rng, self.names, self.generic, self.policy = rng, 0, rng.random() < 0.3, policy
        self.graph = rng.choice(GRAPHS) if rng.random() < 0.4 else ""
        self.values, self.equations, self.parameters, self.results, self.options = [], [], [], [], []
        self.spaces = self.make_spaces()
        for _ in range(rng.randint(1, 3)):
            self.add_map()
        for _ in range(rng.randint(2, 4)):
            self.add_tensor()
        for _ in range(rng.randint(0, 2)):
            self.add_scalar()
        if policy:
            self.add_core()
        self.add_equations()
        self.choose_options()

    # ---- Signature -------------------------------------------------------------------------------------------
    def make_spaces(self):
        rng, spaces = self.rng, []
        for name in rng.sample(["E", "V", "U", "N", "R", "F", "K", "H", "B"], rng.randint(3, 5)):
            size = rng.choice([0, 1, 1, 2, 3, 4, 5, 7, 9]) if name not in "EB" else rng.choice([0, 1, 5, 12, 20])
            spaces.append(Space(name, size))
        if self.graph and not any(s.name == "E" for s in spaces):
            spaces.append(Space("E", 30))
        self.defined = []
        for s in spaces:
            if self.graph and s.name in "EVUNR":
                s.size = 30
            elif rng.random() < 0.8:
                self.defined.append(s)
            else:
                s.size = 16
        return spaces

    def fresh(self, stem):
        self.names += 1
        return "%s%d" % (stem, self.names)

    def add_map(self):
        rng = self.rng
        a, b = rng.choice(self.spaces), rng.choice(self.spaces)
        if a in self.defined and b in self.defined and a.size > 0 and b.size == 0:
            a, b = b, a
        name, facts = self.fresh("m"), []
        if self.graph and rng.random() < 0.6 and not any(v.name in ("src", "dst", "type") for v in self.values):
            into = [s for s in self.spaces if s.name in ("U", "V", "N")]
            if into:
                name, a, b = rng.choice(["src", "dst"]), next(s for s in self.spaces if s.name == "E"), rng.choice(into)
        roll = rng.random()
        if name[0] == "m" and roll < 0.12 and a in self.defined and b in self.defined and a is not b and a.size <= b.size:
            facts = ["prefix"]
        elif name[0] == "m" and roll < 0.2 and a in self.defined and b in self.defined and a.size <= b.size:
            facts = ["unique"]
        elif roll < 0.45:
            facts = ["partial"]
        elif roll < 0.75:
            facts = ["sorted"]
        elif roll < 0.82 and name[0] == "m":
            within = [v for v in self.values if v.kind == "x" and len(v.axes) == 1 and v.axes[0].name == a.name and not v.facts & {"prefix", "unique"}
                      and v.name[0] == "m"]
            facts = ["sorted(%s)" % rng.choice(within).name] if within else []
        if facts == ["partial"] and rng.random() < 0.3 and name[0] == "m":
            facts.append("sorted" if rng.random() < 0.5 else "unique")
        two = facts in ([], ["partial"]) and rng.random() < 0.15 and name[0] == "m"
        axes = [a, rng.choice(self.spaces)] if two else [a]
        self.values.append(Value(name, "x", axes, b, facts, parameter=True))
        text = "%s -> %s" % ("[%s]" % ", ".join(s.text for s in axes) if two else a.text, b.text)
        self.parameters.append("%s: %s%s" % (name, text, "".join(" " + f for f in facts)))

    def axes(self, most):
        rng, axes = self.rng, []
        for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])):
            s = rng.choice(self.spaces)
            roll = rng.random()
            if roll < 0.12:
                n = rng.randint(1, 3)
                s = Space(str(n), n)
            elif roll < 0.2:
                s = Space("%s+1" % s.name, s.size + 1, "%s + 1" % s.text)
            axes.append(s)
        while self.points(axes) > most:
            axes.pop()
        return axes

    @staticmethod
    def points(axes):
        n = 1
        for s in axes:
            n *= max(s.size, 1)
        return n

    def storage(self, kind):
        if kind == "f":
            return "T" if self.generic and self.rng.random() < 0.6 else self.rng.choice(FLOATS)
        return self.rng.choice(["i32", "i64"]) if kind == "i" else "bool"

    def add_tensor(self):
        kind = self.rng.choice("fffffib")
        v = Value(self.fresh("x"), kind, self.axes(2000), parameter=True)
        facts = self.rng.choice(["", "", "", " strided", " packed", " aligned(16)"])
        self.values.append(v)
        self.parameters.append("%s: %s[%s]%s" % (v.name, self.storage(kind), ", ".join(s.text for s in v.axes), facts))

    def add_core(self):
        rng, full = self.rng, [s for s in self.spaces if s.size > 0] or self.spaces
        edges = rng.choice(self.spaces if len(full) > 1 else [s for s in self.spaces if s is not full[0]])   # 'by' wants one index of them
        ends = [s for s in full if s is not edges]
        width = rng.choice([s for s in self.spaces if s is not edges])
        core = policies.Core(self.policy, edges.text, rng.choice(ends).text, rng.choice(ends).text, width.text, rng.choice(ends).text)
        self.parameters += core.parameters
        self.results += core.results
        self.equations += [Equation(left, Expr(None, right), binders) for left, right, binders in core.equations]

    def add_scalar(self):
        kind = self.rng.choice("ffib")
        v = Value(self.fresh("p"), kind, [], scalar=True, parameter=True)
        self.values.append(v)
        self.parameters.append("%s: %s" % (v.name, self.storage(kind)))

    # ---- Indices ---------------------------------------------------------------------------------------------
    def index(self, scope, space, depth=1, maybe=False):
        """An expression for an index of the space, or None; with maybe, one that may be none."""
        rng, found = self.rng, []
        for name, s in scope.indices:
            if s.name == space.name:
                found += [name] * 3
            if space.name == s.name + "+1":
                found += [name, "%s + 1" % name]
        if space.name.isdigit():
            found.append(str(rng.randrange(int(space.name))))
        if depth > 0:
            for m in self.values:
                if m.kind != "x" or m.into.name != space.name:
                    continue
                args = [self.index(scope, a, depth - 1) for a in m.axes]
                if None in args:
                    continue
                text = "%s[%s]" % (m.name, ", ".join(args))
                if "partial" not in m.facts or text in scope.known or maybe:
                    found += [text] * (3 if maybe and "partial" in m.facts else 1)
        return rng.choice(found) if found else None

    def partial(self, scope):
        """An index that may be none: a text and its space."""
        rng, found = self.rng, []
        for m in self.values:
            if m.kind == "x" and "partial" in m.facts:
                args = [self.index(scope, a) for a in m.axes]
                if None not in args:
                    found.append(("%s[%s]" % (m.name, ", ".join(args)), m.into))
        return rng.choice(found) if found else None

    def load(self, scope, kinds):
        rng = self.rng
        values = [v for v in self.values if v.kind in kinds]
        rng.shuffle(values)
        for v in values:
            if v.scalar:
                return Expr(kinds[0], v.name)
            args = [self.index(scope, a) for a in v.axes]
            if None not in args:
                return Expr(kinds[0], "%s[%s]" % (v.name, ", ".join(args)))
        return None

    # ---- Expressions -----------------------------------------------------------------------------------------
    def number(self):
        return Expr("f", self.rng.choice(["0", "1", "0.5", "2", "3.25", "0.1", "(-1)", "1e-3", "10"]))

    def real(self, scope, depth):
        if scope.made and self.rng.random() < 0.12:
            return self.rng.choice(scope.made)
        e = self.new_real(scope, depth)
        scope.made.append(e)
        return e

    def new_real(self, scope, depth):
        rng = self.rng
        roll = rng.random()
        if depth <= 0 or roll < 0.2:
            return (self.load(scope, "fi") if rng.random() < 0.85 else None) or self.number()
        if roll < 0.3:
            return self.formatted("f", rng.choice(UNARY), [self.real(scope, depth - 1)])
        if roll < 0.52:
            return self.formatted("f", rng.choice(BINARY), [self.real(scope, depth - 1), self.real(scope, depth - 1)])
        if roll < 0.6:
            return self.conditional(scope, depth, "f")
        if roll < 0.78:
            return self.reduction(scope, depth, "f") or self.real(scope, depth - 1)
        if roll < 0.88:
            return self.normaliser(scope, depth) or self.real(scope, depth - 1)
        if roll < 0.92:
            words = [self.integer(scope, 0) for _ in range(rng.randint(1, 3))]
            return self.formatted("f", self.UNIFORM % ", ".join(["%s"] * (len(words) + 1)), [Expr("i", "7")] + words)
        if roll < 0.95:
            return self.integer(scope, depth - 1)
        return self.formatted("f", "f_pick(%s, 0 + %s, 0 + %s)", [self.real(scope, depth - 1) for _ in range(3)])

    @staticmethod
    def formatted(kind, text, args):
        parts = text.replace("%%", "\0").split("%s")
        out = []
        for i, p in enumerate(parts):
            out.append(p.replace("\0", "%"))
            if i < len(args):
                out.append(args[i])
        if any(o in text for o in ("%s * %s", "%s %% ")):   # products stand where a factor is wanted
            out = ["("] + out + [")"]
        return Expr(kind, *out)

    def integer(self, scope, depth):
        rng = self.rng
        roll = rng.random()
        if depth > 0 and roll < 0.35:
            return self.formatted("i", rng.choice(INTEGER), [self.integer(scope, depth - 1), self.integer(scope, depth - 1)])
        if depth > 0 and roll < 0.45:
            return self.formatted("i", rng.choice(["i64(%s)", "i32(%s)"]), [self.real(scope, depth - 1)])
        if depth > 0 and roll < 0.55:
            return self.conditional(scope, depth, "i")
        if depth > 0 and roll < 0.65:
            found = self.reduction(scope, depth, "i")
            if found:
                return found
        if roll < 0.75 and scope.indices:
            return Expr("i", rng.choice(scope.indices)[0])
        if roll < 0.82:
            return Expr("i", rng.choice(self.spaces).name)
        if roll < 0.88:
            text = self.index(scope, rng.choice(self.spaces))
            if text:
                return Expr("i", text)
        return self.load(scope, "i") or Expr("i", str(rng.choice([0, 1, 2, 3, 5, -1, 64, 1000000007])).replace("-1", "(-1)"))

    def boolean(self, scope, depth):
        rng = self.rng
        roll = rng.random()
        if depth > 0 and roll < 0.2:
            a = self.boolean(scope, depth - 1)
            return Expr("b", "(", a, rng.choice([" && ", " || "]), self.boolean(scope, depth - 1), ")")
        if depth > 0 and roll < 0.28:
            return Expr("b", "!(", self.boolean(scope, depth - 1), ")")
        if depth > 0 and roll < 0.38:
            found = self.reduction(scope, depth, "b")
            if found:
                return found
        if roll < 0.5:
            space = rng.choice(self.spaces)
            a, b = self.index(scope, space, maybe=True), self.index(scope, space, maybe=True)
            if a and b:
                return Expr("b", "(%s %s %s)" % (a, rng.choice(["==", "!=", "=="]), b))
        if depth > 0 and roll < 0.62:
            found = self.partial(scope)
            if found:
                is_none, joined = rng.choice([("!=", "&&"), ("==", "||")])
                return Expr("b", "(%s %s none %s " % (found[0], is_none, joined), self.boolean(scope.inside(known=[found[0]]), depth - 1), ")")
        if roll < 0.75:
            found = self.load(scope, "b")
            if found:
                return found
        kind = self.real if rng.random() < 0.7 else self.integer
        a, b = kind(scope, min(depth - 1, 1)), kind(scope, min(depth - 1, 1))
        a = Expr(a.kind, "(0 + ", a, ")")   # indices of two spaces are not compared
        return Expr("b", "(", a, " %s " % rng.choice(["<", "<=", ">", ">=", "==", "!="]), b, ")")

    def of_kind(self, scope, depth, kind):
        return {"f": self.real, "i": self.integer, "b": self.boolean}[kind](scope, depth)

    def arm(self, scope, depth, kind):
        """Of one type whatever the other arm is: indices of two spaces do not meet."""
        e = self.of_kind(scope, depth, kind)
        return e if kind == "b" else Expr(kind, "(0 + ", e, ")")

    def conditional(self, scope, depth, kind):
        rng, found = self.rng, self.partial(scope)
        if not found or rng.random() < 0.4:
            return Expr(kind, "(", self.boolean(scope, depth - 1), " ? ", self.arm(scope, depth - 1, kind), " : ",
                        self.arm(scope, depth - 1, kind), ")")
        text, space = found
        some, other = self.arm(scope.inside(known=[text]), depth - 1, kind), self.arm(scope, depth - 1, kind)
        if rng.random() < 0.3:
            equal = self.index(scope.bare(), space)
            if equal:
                return Expr(kind, "(%s == %s ? " % (text, equal), some, " : ", other, ")")
        if rng.random() < 0.5:
            return Expr(kind, "(%s != none ? " % text, some, " : ", other, ")")
        return Expr(kind, "(%s == none ? " % text, other, " : ", some, ")")

    # ---- Reductions ------------------------------------------------------------------------------------------
    def head(self, scope, depth, orelse):
        """The braces of a reduction and the scope of its body; orelse: kinds of what stands after 'else'."""
        rng = self.rng
        if scope.depth > 4:
            return None
        maps = [m for m in self.values if m.kind == "x" and len(m.axes) == 1 and not m.facts & {"prefix"}]
        binders, guards, inner = [], [], scope
        for _ in range(rng.choice([1, 1, 1, 2])):
            name = self.fresh("i")
            m = rng.choice(maps) if maps and rng.random() < 0.65 else None
            space = m.axes[0] if m else rng.choice(self.spaces)
            if not space.text.isalnum():
                return None
            maybe = rng.random() < 0.2
            key = self.index(inner if maybe else inner.bare(), m.into, maybe=maybe) if m else None
            if inner.points * max(space.size, 1) > 20000:
                return None
            if key:
                side = ["%s[%s]" % (m.name, name), key]
                if rng.random() < 0.2:
                    side.reverse()
                guards.append("%s == %s" % tuple(side))
                if rng.random() < 0.15:
                    compose = [c for c in maps if c.axes[0].name == m.into.name and "partial" not in m.facts]
                    if compose:
                        c = rng.choice(compose)
                        other = self.index(inner, c.into)
                        if other:
                            guards[-1] = "%s[%s[%s]] == %s" % (c.name, m.name, name, other)
            binders.append(name if key and rng.random() < 0.6 else "%s in %s" % (name, space.text))
            known = ["%s[%s]" % (m.name, name)] if key and not maybe and guards[-1].startswith("%s[%s] ==" % (m.name, name)) else []
            inner = inner.inside([(name, space)], known, max(space.size, 1))
        parts = [", ".join(binders)]
        found = self.partial(inner) if rng.random() < 0.3 else None
        if found:
            guards.append("%s != none" % found[0])
            inner = inner.inside(known=[found[0]])
        if guards:
            parts += [" : ", " && ".join(guards)]
        if rng.random() < 0.3:
            parts += [" && " if guards else " : ", self.boolean(inner, min(depth - 1, 1))]
        if orelse and rng.random() < 0.3:
            values = [Expr("f", "f32(", self.real(scope, 0), ")") if k == "f" else self.of_kind(scope, 0, k) for k in orelse]
            parts.append(" else ")
            parts += [values[0]] if len(values) == 1 else ["(", values[0], ", ", values[1], ")"]
        return Expr(None, "{", *parts, "} "), inner

    def reduction(self, scope, depth, kind):
        rng = self.rng
        name = rng.choice(["any", "all"]) if kind == "b" else rng.choice(["sum", "max", "min", "prod", "count"]) if kind == "i" else rng.choice(REDUCERS)
        orelse = "i" if name == "count" else kind
        found = self.head(scope, depth, orelse)
        if not found:
            return None
        head, inner = found
        body = self.of_kind(inner, depth - 1, kind)
        whole = "1.0 * (" if kind == "f" and name != "count" else "("   # else is of the body's type
        return Expr(kind, "(", name, head, whole, body, "))")

    def normaliser(self, scope, depth):
        rng, name = self.rng, self.rng.choice(NORMALISERS)
        maps = [m for m in self.values if m.kind == "x" and len(m.axes) == 1 and not m.facts & {"prefix", "partial"}
                and sum(s.name == m.axes[0].name for _, s in scope.indices) == 1]
        if not scope.indices:
            return None
        m = rng.choice(maps) if maps and rng.random() < 0.65 else None
        over = [n for n, s in scope.indices if s.name == m.axes[0].name] if m else \
            rng.sample([n for n, _ in scope.indices], min(len(scope.indices), rng.choice([1, 1, 2])))
        known = [k for k in scope.known if not any(re.search(r"\b%s\b" % n, k) for n in over)]   # of this point alone
        x = Expr("f", "1.0 * (", self.real(Scope(scope.indices, known, scope.points, scope.depth + 1), depth - 1), ")")
        if not m:
            return Expr("f", "%s(" % name, x, " over %s)" % (over[0] if len(over) == 1 else "(%s)" % ", ".join(over)))
        others = [o for o in maps if o.axes[0].name == m.axes[0].name and o.parameter]
        if m.parameter and rng.random() < 0.3:
            keys = "(%s)" % ", ".join([m.name, rng.choice(others).name][:rng.choice([1, 2])])
        else:
            keys = m.name
        return Expr("f", "%s(" % name, x, " by %s)" % keys)

    # ---- Equations -------------------------------------------------------------------------------------------
    def left(self, axes):
        return [(self.fresh("i"), s) for s in axes]

    def define(self, name, kind, axes, declared):
        """Equations for a value of these axes; False: none was made."""
        rng, depth = self.rng, self.rng.choice([1, 2, 2, 3, 3, 4, 5])
        indices = self.left(axes)
        scope = Scope(indices, points=self.points(axes))
        stated = " for " + ", ".join("%s in %s" % (n, s.text) for n, s in indices) if indices and not declared else ""
        target = "%s[%s]" % (name, ", ".join(n for n, _ in indices))
        literal = [k for k, s in enumerate(axes) if s.name.isdigit()]
        if literal and rng.random() < 0.7:
            self.fill(name, kind, axes, literal[0], declared, depth)
        else:
            value = self.of_kind(scope, depth, kind)
            if kind == "f" and not declared:
                value = Expr("f", "1.0 * (", value, ")")
            self.equations.append(Equation(target, value, stated))
        return True

    def fill(self, name, kind, axes, at, declared, depth):
        for k in range(int(axes[at].name)):
            indices = self.left(axes)
            rest = indices[:at] + indices[at + 1:]
            words = [str(k) if j == at else n for j, (n, _) in enumerate(indices)]
            stated = " for " + ", ".join("%s in %s" % (n, s.text) for n, s in rest) if rest and not declared else ""
            value = self.of_kind(Scope(rest, points=self.points(axes)), depth, kind)
            if not declared and kind != "b":
                value = Expr(kind, "0.5 * (" if kind == "f" else "(0 + ", value, ")")
            self.equations.append(Equation("%s[%s]" % (name, ", ".join(words)), value, stated))

    def recurrence(self, name, axes, declared):
        rng, step = self.rng, self.rng.choice(self.spaces)
        if step.size > 8:
            return None
        after = Space("%s+1" % step.name, step.size + 1, "%s + 1" % step.text)
        z = Value(name, "f", [after] + axes)
        indices, t = self.left(axes), self.fresh("t")
        names = [n for n, _ in indices]
        stated = ", ".join("%s in %s" % (n, s.text) for n, s in indices)
        first = Expr("f", "0.5 * (", self.real(Scope(indices, points=self.points(axes)), 1), ")")
        self.equations.append(Equation("%s[%s]" % (name, ", ".join(["0"] + names)), first, " for " + stated if stated and not declared else ""))
        scope = Scope(indices, points=self.points(axes))
        inner, terms = scope, Expr("f", "%s[%s]" % (name, ", ".join([t] + names)))
        maps = [m for m in self.values if m.kind == "x" and len(m.axes) == 1 and not m.facts & {"prefix", "partial"} and axes
                and m.axes[0].name == axes[0].name and m.into.name == axes[0].name]
        if maps and rng.random() < 0.7:   # what its neighbours had
            m, e = rng.choice(maps), self.fresh("i")
            terms = Expr("f", "(", terms, " + 0.5 * sum{%s : %s[%s] == %s} %s[%s])" % (e, m.name, e, names[0], name, ", ".join([t, e] + names[1:])))
        step_value = Expr("f", "(0.5 * ", terms, " + ", self.real(Scope(inner.indices + [(t, step)], points=inner.points * 4), 1), ")")
        self.equations.append(Equation("%s[%s]" % (name, ", ".join(["%s + 1" % t] + names)), step_value, " for %s in %s%s" % (t, step.text, ", " + stated if stated and not declared else "")))
        return z

    def pair(self, names, axes, declared):
        rng = self.rng
        reducer, nargs = rng.choice(PAIRS)
        indices = self.left(axes)
        found = self.head(Scope(indices, points=self.points(axes)), 1, "ff")
        if not found:
            return False
        head, inner = found
        args = [Expr("f", "1.0 * (", self.real(inner, 1), ")") for _ in range(nargs)]
        body = Expr(None, "(", args[0], ")") if nargs == 1 else Expr(None, "(", args[0], ", ", args[1], ")")
        left = ", ".join("%s[%s]" % (n, ", ".join(i for i, _ in indices)) for n in names)
        stated = " for " + ", ".join("%s in %s" % (n, s.text) for n, s in indices) if indices and not declared else ""
        self.equations.append(Equation(left, Expr(None, reducer, head, body), stated))
        return True

    def computed_map(self, name, axes, result):
        """argmax over something, or a composition of maps."""
        rng, indices = self.rng, self.left(axes)
        scope = Scope(indices, points=self.points(axes))
        stated = " for " + ", ".join("%s in %s" % (n, s.text) for n, s in indices) if indices and not result else ""
        target = "%s[%s]" % (name, ", ".join(n for n, _ in indices))
        space = rng.choice(self.spaces)
        default = self.partial(scope) if rng.random() < 0.2 else None
        other = self.index(scope, default[1]) if default else None
        if other:
            self.equations.append(Equation(target, Expr(None, "(%s == none ? %s : %s)" % (default[0], other, default[0])), stated))
            return Value(name, "x", axes, default[1], ["partial"] if result else [])
        if rng.random() < 0.2 and not result and scope.points * 2 <= 2000:
            return self.map_in_parts(name, axes)
        text = self.index(scope, space, 2, maybe=True) if rng.random() < 0.4 else None
        if text:
            maybe = any(text.startswith(m.name + "[") for m in self.values if "partial" in m.facts)
            self.equations.append(Equation(target, Expr(None, text), stated))
            return Value(name, "x", axes, space, ["partial"] if maybe or result else [])
        if space.size > 16 or scope.points * max(space.size, 1) > 20000:
            return None
        b = self.fresh("i")
        inner = scope.inside([(b, space)], points=max(space.size, 1))
        parts = [rng.choice(["argmax", "argmin"]), "{%s in %s" % (b, space.text)]
        if rng.random() < 0.5:
            parts += [" : ", self.boolean(inner, 1)]
        self.equations.append(Equation(target, Expr(None, *parts, "} (1.0 * (", self.real(inner, 1), "), %s)" % b), stated))
        return Value(name, "x", axes, space, ["partial"])

    def map_in_parts(self, name, axes):
        """Two parts, of which the second is none only where the first may be."""
        space, partial = self.rng.choice(self.spaces), self.rng.random() < 0.5
        for k in range(2):
            indices = self.left(axes)
            text = self.index(Scope(indices), space, 2, maybe=partial)
            if not text or (k == 0 and partial and not any(text.startswith(m.name + "[") for m in self.values if "partial" in m.facts)):
                if k:
                    del self.equations[-1]
                return None
            stated = " for " + ", ".join("%s in %s" % (n, s.text) for n, s in indices) if indices else ""
            self.equations.append(Equation("%s[%s]" % (name, ", ".join([str(k)] + [n for n, _ in indices])), Expr(None, text), stated))
        return Value(name, "x", [Space("2", 2)] + axes, space, ["partial"] if partial else [])

    def call(self):
        rng = self.rng
        tensors = [v for v in self.values if v.kind == "f" and len(v.axes) == 2 and not v.scalar]
        maps = [m for m in self.values if m.kind == "x" and len(m.axes) == 1 and not m.facts & {"prefix", "partial"}]
        fits = [(m, x) for m in maps for x in tensors if x.axes[0].name == m.axes[0].name]
        if fits and rng.random() < 0.7:
            m, x = rng.choice(fits)
            y, z = self.fresh("c"), self.fresh("c")
            to = Value(z, "f", [m.into, x.axes[1]])
            if rng.random() < 0.5:
                folded = "fold<%s, %s>" % (rng.choice(["max", "min", "sum", "prod", "mean", "r_last", "r_span"]), rng.choice(["f_twice", "f_bend", "relu", "sq"]))
                self.equations.append(Equation(z, Expr(None, "%s(%s, %s)" % (rng.choice(["gather", folded]), m.name, x.name))))
                return [to]
            self.equations.append(Equation("%s, %s" % (y, z), Expr(None, "around(%s, %s)" % (m.name, x.name))))
            return [Value(y, "f", list(x.axes)), to]
        if not tensors:
            return []
        x = rng.choice(tensors)
        y, z = self.fresh("c"), self.fresh("c")
        self.equations.append(Equation("%s, %s" % (y, z), Expr(None, "moments(%s)" % x.name)))
        return [Value(y, "f", x.axes[:1]), Value(z, "f", x.axes[:1])]

    def add_equations(self):
        rng = self.rng
        for _ in range(rng.choice([0, 1, 2, 2, 3, 4])):
            roll, name = rng.random(), self.fresh("a")
            axes = self.axes(400)
            if roll < 0.15:
                v = self.computed_map(name, axes[:2], False)
                self.values += [v] if v else []
            elif roll < 0.25:
                self.values += self.call()
            elif roll < 0.35:
                v = self.recurrence(name, axes[:2], False)
                self.values += [v] if v else []
            elif roll < 0.5:
                other = self.fresh("a")
                if self.pair([name, other], axes, False):
                    self.values += [Value(name, "f", axes), Value(other, "f", axes)]
            else:
                kind = rng.choice("ffffib")
                self.define(name, kind, axes, False)
                self.values.append(Value(name, kind, axes))
        for _ in range(rng.randint(1, 3)):
            self.add_result()

    def add_inplace(self):
        """A parameter that is overwritten, read at each own point alone."""
        rng, name, under = self.rng, self.fresh("y"), self.fresh("o")
        axes, storage = self.axes(400), self.storage("f")
        indices = self.left(axes)
        place = "[%s]" % ", ".join(n for n, _ in indices)
        value = Expr("f", "(0.5 * ", Expr("f", under + place), " + ", self.real(Scope(indices, points=self.points(axes)), 2), ")")
        self.equations.append(Equation(name + place, value))
        shape = "[%s]" % ", ".join(s.text for s in axes)
        self.parameters.append("%s: %s%s" % (under, storage, shape))
        self.results.append((name, "%s: %s%s inplace(%s)" % (name, storage, shape, under)))
        self.values.append(Value(name, "f", axes))

    def add_result(self):
        rng, name = self.rng, self.fresh("y")
        axes, roll = self.axes(400), rng.random()
        if roll > 0.94:
            return self.add_inplace()
        if roll < 0.12:
            v = self.computed_map(name, axes[:1] or [self.spaces[0]], True)
            if v:
                facts = " partial"
                self.results.append((name, "%s: %s -> %s%s" % (name, v.axes[0].text, v.into.text, facts) if v.axes[0].text.isalpha() else
                                     "%s: [%s] -> %s%s" % (name, v.axes[0].text, v.into.text, facts)))
                self.values.append(v)
                return
        facts = rng.choice(["", "", "", " strided", " packed"])
        if roll < 0.22:
            other = self.fresh("y")
            if self.pair([name, other], axes, True):
                for n in (name, other):
                    self.results.append((n, "%s: %s[%s]%s" % (n, self.storage("f"), ", ".join(s.text for s in axes), facts)))
                    self.values.append(Value(n, "f", axes))
                return
        if roll < 0.3:
            z = self.recurrence(name, axes[:2], True)
            if z:
                self.results.append((name, "%s: %s[%s]%s" % (name, self.storage("f"), ", ".join(s.text for s in z.axes), facts)))
                self.values.append(z)
                return
        kind = rng.choice("ffffffib")
        self.define(name, kind, axes, True)
        self.results.append((name, "%s: %s[%s]%s" % (name, self.storage(kind), ", ".join(s.text for s in axes), facts)))
        self.values.append(Value(name, kind, axes))

    # ---- The rest --------------------------------------------------------------------------------------------
    def choose_options(self):
        rng, words = self.rng, ["--graph=" + self.graph] if self.graph else []
        for s in self.defined:
            words += ["-D", "%s=%d" % (s.name, s.size)]
        if self.generic:
            words += ["-D", "T=" + rng.choice(["f64", "f32", "f16", "bf16"])]
        words.append("--index=%d" % (self.policy["index"] if self.policy else rng.choice([32, 64])))
        words.append("--layout=" + rng.choice(["packed", "packed", "strided", "misaligned", "broadcast"]))
        words.append("--values=" + rng.choice(["random", "random", "special"]))
        words.append("--edges=" + rng.choice(["plain", "mixed"]))
        if "inplace(" in "".join(t for _, t in self.results) and rng.random() < 0.6:
            words.append("--inplace")
        words += ["--seed=%d" % rng.randrange(1000), "--all-levels"] + (["--metamorphic"] if rng.random() < 0.3 else [])
        self.options = words

    def sizes(self):
        """Parameters that declare each space before an expression names it; a later plain mention would come too late."""
        body = " ".join(self.parameters + [t for _, t in self.results] + [str(e) for e in self.equations])
        def mentioned(name):
            return any(re.search(r"[\[,>] ?%s\b(?! \+)|: %s ->" % (name, name), p) for p in self.parameters)
        return ["z%s: f32[%s]" % (s.name, s.name) for s in self.spaces
                if re.search(r"\b%s\b" % s.name, body) and (not mentioned(s.name) or "%s + 1" % s.name in body)]

    def text(self):
        results = ",\n        ".join(text for _, text in self.results)
        head = "op main" + ("<T>" if self.generic else "") + "(%s)\n    -> (%s) {\n" % (",\n        ".join(self.sizes() + self.parameters), results)
        return HELPERS + head + "\n".join(str(e) for e in self.equations) + "\n}\n"


# ---- Running -------------------------------------------------------------------------------------------------------
class Outcome:
    def __init__(self, status, errors, row):
        self.status, self.errors, self.row = status, errors, row
        codes = re.findall(r"error\[(E\d+)\]", errors)
        self.kind = "%s %s" % (status, codes[0] if codes else "")
        if status == 70:
            fault = re.search(r"internal fault at \S*?([a-z_]+\.c:\d+)", errors)
            self.kind = "70 %s" % (fault.group(1) if fault else "")

    def refused(self):
        return self.status == 1 and self.kind[2:] in REFUSED


def run(gnnc, text, options, path):
    with open(path, "w") as out:
        out.write(text)
    command = [gnnc, "run", path, "--op", "main", "--no-schedule", "--target=host", "--check"] + options
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return Outcome("timeout", "", ""), command
    errors, text = done.stderr.decode("utf-8", "replace"), done.stdout.decode("utf-8", "replace")
    rows = [l for l in text.splitlines() if l.startswith("main")]
    return Outcome(done.returncode, errors, rows[0] if rows else ""), command


# ---- Making it smaller ---------------------------------------------------------------------------------------------
def nodes(e):
    yield e
    for c in e.children():
        yield from nodes(c)


def tries(case):
    """Smaller cases, each as a pair of functions that change and restore this one."""
    for k, (name, text) in enumerate(list(case.results)):
        if len(case.results) > 1:
            old = list(case.results), list(case.equations)
            def drop(k=k, name=name):
                del case.results[k]
                case.equations = [e for e in case.equations if not re.match(r"%s\b" % name, e.left)]
            def back(old=old):
                case.results, case.equations = old
            yield drop, back
    for k in range(len(case.equations)):
        old = list(case.equations)
        def drop(k=k):
            del case.equations[k]
        def back(old=old):
            case.equations = old
        yield drop, back
    for k in range(len(case.parameters)):
        old = list(case.parameters)
        def drop(k=k):
            del case.parameters[k]
        def back(old=old):
            case.parameters = old
        yield drop, back
    for equation in case.equations:
        for node in list(nodes(equation.value)):
            others = [LITERAL[node.kind]] if node.kind else []
            others += [c for c in node.children() if c.kind == node.kind]
            if not node.kind:
                others += [""] if str(node).startswith("{") else []
            for other in others:
                if str(other) == str(node) or other == "":
                    continue
                old = node.parts
                def put(node=node, other=other):
                    node.parts = [other]
                def back(node=node, old=old):
                    node.parts = old
                yield put, back
    for k in range(len(case.options)):
        word, old = case.options[k], list(case.options)
        if word.startswith("--graph"):
            continue
        if word.startswith("T="):
            continue
        if k and case.options[k - 1] == "-D":
            size = int(word.split("=")[1])
            for less in (1, size // 2):
                if less < size:
                    def put(k=k, word="%s=%d" % (word.split("=")[0], less)):
                        case.options[k] = word
                    def back(old=old):
                        case.options = list(old)
                    yield put, back
        elif word != "-D":
            def put(k=k):
                del case.options[k]
            def back(old=old):
                case.options = list(old)
            yield put, back


def shrink(gnnc, case, kind, path, budget=400):
    smaller = True
    while smaller and budget > 0:
        smaller = False
        for change, back in tries(case):
            budget -= 1
            if budget < 0:
                break
            change()
            if run(gnnc, case.text(), case.options, path)[0].kind == kind:
                smaller = True
                break
            back()


def make(seed, number):
    return Case(random.Random("%d:%d" % (seed, number)), policies.policy(number))


def one(args, number):
    path = os.path.join(args.save, "case-%d-%d.gnn" % (args.seed, number))
    case = make(args.seed, number)
    outcome, command = run(args.gnnc, case.text(), case.options, path)
    if outcome.status == 0 or outcome.refused():
        os.remove(path)
        return number, outcome, ""
    small = path.replace("case-", "small-")
    if args.shrink:
        shrink(args.gnnc, case, outcome.kind, small)
        said = run(args.gnnc, case.text(), case.options, small)
        text = case.text()[len(HELPERS):] + "    " + " ".join(said[1]) + "\n" + "\n".join(said[0].errors.splitlines()[:6])
    else:
        text = " ".join(command) + "\n" + "\n".join(outcome.errors.splitlines()[:6])
    return number, outcome, text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", default="random_ops.faults", help="folder for what fails")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    args = parser.parse_args()
    os.makedirs(args.save, exist_ok=True)
    began, right, refused, faults, kinds = time.time(), 0, 0, 0, {}
    compared = uncertain = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for number, outcome, text in pool.map(lambda n: one(args, n), range(args.first, args.first + args.cases)):
            if outcome.status == 0:
                right += 1
                cells = re.split(r"\s{2,}", outcome.row)
                if len(cells) >= 10 and cells[5].isdigit():
                    compared, uncertain = compared + int(cells[5]), uncertain + int(cells[6])
            elif outcome.refused():
                refused += 1
            else:
                faults += 1
                kinds[outcome.kind] = kinds.get(outcome.kind, 0) + 1
                print("case %d of seed %d: %s\n%s\n" % (number, args.seed, outcome.kind, text), flush=True)
    print("%d cases: %d right, %d refused, %d faults; %d elements compared, %d uncertain, in %.0f s" %
          (args.cases, right, refused, faults, compared, uncertain, time.time() - began))
    for kind, n in sorted(kinds.items()):
        print("    %d x %s" % (n, kind))
    return 1 if faults or not right else 0


if __name__ == "__main__":
    sys.exit(main())
