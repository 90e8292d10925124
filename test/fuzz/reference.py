#!/usr/bin/env python3
"""A second opinion on what an op means: evaluates its source text as the manual defines it, element by element, with no
stages, no normal form and no sharing, and compares gnnc's results with that. `gnnc run --check` judges the plan by the
tensor IR; this judges the tensor IR too.

Usage: reference.py GNNC [--cases N] [--seed S] [--jobs 2] [--save DIR] [--first I]

Cases are those of random_ops.py with f64 values. Each is evaluated twice, the second time with noise on every operation:
elements that move are ill-conditioned and not compared. The exit status is 1 if there was a difference.
"""
import argparse
import concurrent.futures
import math
import os
import random
import re
import struct
import subprocess
import sys
import time

import random_ops

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STEPS = 400000


class Undefined(Exception):
    """The op reads where nothing is: it should have been refused."""


class TooLong(Exception):
    pass


# ---- Text to trees: tuples (kind, ...) -----------------------------------------------------------------------------
TOKEN = re.compile(r"\s+|//[^\n]*|(?P<number>\d+(\.\d+)?([eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*'?)|(?P<text>\"[^\"]*\")|"
                   r"(?P<mark>->|==|!=|<=|>=|&&|\|\||[-+*/%<>=!?:;,.|(){}\[\]])")
LEVELS = [["||"], ["&&"], ["==", "!=", "<", "<=", ">", ">="], ["+", "-"], ["*", "/", "%"]]


class Parser:
    def __init__(self, text):
        self.tokens = [m.group() for m in TOKEN.finditer(text) if m.lastgroup]
        self.at = 0

    def peek(self, k=0):
        return self.tokens[self.at + k] if self.at + k < len(self.tokens) else ""

    def next(self, want=None):
        token = self.peek()
        if want and token != want:
            raise SyntaxError("%r where %r is wanted" % (" ".join(self.tokens[self.at:self.at + 8]), want))
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def listed(self, one, end):
        out = []
        while not self.accept(end):
            out.append(one())
            self.accept(",")
        return out

    def expr(self, level=-1):
        if level == -1:
            c = self.expr(0)
            if not self.accept("?"):
                return c
            a = self.expr()
            self.next(":")
            return ("if", c, a, self.expr())
        if level == len(LEVELS):
            return self.unary()
        left = self.expr(level + 1)
        while self.peek() in LEVELS[level]:
            op = self.next()
            left = ("binary", op, left, self.expr(level + 1))
        return left

    def unary(self):
        if self.peek() in ("-", "!"):
            return ("unary", self.next(), self.unary())
        return self.primary()

    def primary(self):
        token = self.next()
        if token == "(":
            items = self.listed(self.expr, ")")
            return items[0] if len(items) == 1 else ("tuple", items)
        if token[0].isdigit():
            return ("number", float(token) if re.search(r"[.eE]", token) else int(token))
        if self.accept("["):
            return ("ref", token, self.listed(self.expr, "]"))
        if self.accept("("):
            return ("call", token, self.listed(self.argument, ")"))
        if self.peek() == "{":
            return self.reduction(token)
        return ("primed", token[:-1]) if token.endswith("'") else ("name", token)

    def argument(self):
        e = self.expr()
        if self.peek() not in ("by", "over"):
            return e
        how = self.next()
        names = self.listed(self.next, ")") if self.accept("(") else [self.next()]
        return ("keyed", how, names, e)

    def reduction(self, name):
        self.next("{")
        binders, guard, orelse = [], None, None
        while True:
            b = self.next()
            binders.append((b, self.expr() if self.accept("in") else None))
            if not self.accept(","):
                break
        if self.accept(":"):
            guard = self.expr()
        if self.accept("else"):
            orelse = self.expr()
        self.next("}")
        return ("reduce", name, binders, guard, orelse, self.expr(4))   # the product after it

    # Items
    def file(self):
        items = {"fn": {}, "reducer": {}, "op": {}}
        while self.peek():
            kind = self.next()
            if kind in items:
                name = self.next()
                items[kind][name] = getattr(self, kind)()
            else:
                while not self.accept(";"):
                    self.at += 1
        return items

    def fn(self):
        self.next("(")
        params = self.listed(lambda: (self.next(), self.next() if self.accept("by") else None), ")")
        self.next("=")
        body = self.expr()
        self.next(";")
        return params, body

    def reducer(self):
        self.next("(")
        params = self.listed(self.next, ")")
        self.next("->"), self.next("(")
        results, sections = self.listed(self.next, ")"), {}
        while not self.accept("{"):
            self.next()
        while not self.accept("}"):
            name = self.next()
            self.next("(")
            sections[name] = self.listed(self.expr, ")")
            self.next(";")
        return params, results, sections

    def parameter(self):
        name = self.next()
        self.next(":")
        if self.accept("["):
            axes, element = self.listed(self.expr, "]"), "map"
        else:
            element, axes = self.next(), None
            if self.accept("["):
                axes = self.listed(self.expr, "]")
        into = None
        if self.accept("->"):
            axes, element, into = axes or [("name", element)], "map", self.next()
        facts = []
        while self.peek() not in (",", ")"):
            fact = self.next()
            facts.append((fact, self.listed(self.expr, ")") if self.accept("(") else []))
        return name, element, axes, into, facts

    def op(self):
        generics = []
        if self.accept("<"):
            generics = self.listed(lambda: (self.next(), self.next() if self.accept(":") else "float"), ">")
        self.next("(")
        params = self.listed(self.parameter, ")")
        self.next("->"), self.next("(")
        results, equations = self.listed(self.parameter, ")"), []
        self.next("{")
        while not self.accept("}"):
            equations.append(self.equation())
        return generics, params, results, equations

    def equation(self):
        targets = [self.target()]
        while self.accept(","):
            targets.append(self.target())
        self.next("=")
        if targets[0][1] is None:
            name = self.next()
            given = self.listed(self.next, ">") if self.accept("<") else []
            self.next("(")
            arguments = self.listed(self.expr, ")")
            self.next(";")
            return targets, ("opcall", name, given, arguments), []
        value, binders = self.expr(), []
        if self.accept("for"):
            binders = self.listed(lambda: (self.next(), self.expr() if self.accept("in") else None), ";")
        else:
            self.next(";")
        return targets, value, binders

    def target(self):
        name = self.next()
        return name, self.listed(self.expr, "]") if self.accept("[") else None


# ---- Numbers -------------------------------------------------------------------------------------------------------
def wrap(x, bits=64):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def divide(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)


def least(a, b):
    if a != a or b != b:
        return math.nan
    return a if a < b or (a == b and math.copysign(1, a) < 0) else b


def whole(f):
    return lambda x: math.copysign(f(x), x) if math.isfinite(x) and f(x) == 0 else float(f(x)) if math.isfinite(x) else x


def guarded(f, over=math.inf):
    def g(x):
        try:
            return f(x)
        except OverflowError:
            return over
        except ValueError:
            return math.nan
    return g


def logarithm(x):
    return -math.inf if x == 0 else math.nan if not x > 0 else math.log(x)


def power(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        return math.inf if x == 0 else math.nan


MATHS = {"sqrt": guarded(math.sqrt), "floor": whole(math.floor), "ceil": whole(math.ceil), "exp": guarded(math.exp), "log": logarithm,
         "tanh": math.tanh, "sin": guarded(math.sin), "cos": guarded(math.cos), "erf": math.erf, "expm1": guarded(math.expm1),
         "log1p": lambda x: -math.inf if x == -1 else guarded(math.log1p)(x)}
CASTS = ("f64", "i64", "i32")


def to_integer(x):
    if isinstance(x, int):
        return int(x)
    return 0 if x != x else max(-1 << 63, min((1 << 63) - 1, math.trunc(x))) if math.isfinite(x) else ((1 << 63) - 1 if x > 0 else -1 << 63)


def uniform(words):
    mask, golden = (1 << 64) - 1, 0x9e3779b97f4a7c15

    def mix(z):
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb & mask
        return z ^ (z >> 31)
    h = 0
    for w in words:
        h = mix(((h ^ (w & mask)) + golden) & mask)
    return (h >> 40) * 2.0 ** -24


# ---- What names stand for ------------------------------------------------------------------------------------------
class Index:
    def __init__(self, space):
        self.space, self.value = space, None


class Array:
    """A tensor, map or computed value: spaces and a dictionary of its elements. kind f, i, b or x."""

    def __init__(self, kind, axes, into=None, data=None, prefix=False):
        self.kind, self.axes, self.into, self.data, self.prefix = kind, axes, into, {} if data is None else data, prefix
        self.narrow = False   # i32


class Closure:
    def __init__(self, tree, scope):
        self.tree, self.scope = tree, scope


class Keys:
    def __init__(self, how, names, scope):
        self.how, self.names, self.scope = how, names, scope


class Scope:
    def __init__(self, outer=None, **names):
        self.outer, self.names = outer, names

    def find(self, name):
        s = self
        while s is not None:
            if name in s.names:
                return s.names[name]
            s = s.outer
        return None

    def has(self, name):
        return name in self.names or (self.outer is not None and self.outer.has(name))


class Space:
    """Equal sizes are not equal spaces: told apart by their text."""

    def __init__(self, text, size):
        self.text, self.size = text, size


class Evaluator:
    def __init__(self, items, noise):
        self.items, self.noise, self.steps = items, noise, 0
        self.random = random.Random(1)

    def noisy(self, x):
        return x * (1 + self.noise * (self.random.random() - 0.5)) if self.noise and isinstance(x, float) and x == x else x

    def resolve(self, scope, name):
        x = scope.find(name)
        while isinstance(x, Closure) and x.tree[0] == "name" and x.scope.find(x.tree[1]) is not None:
            x = x.scope.find(x.tree[1])
        return x

    # Kinds of expressions, for what no element tells: the largest of no integers
    def kind(self, e, s):
        tag = e[0]
        if tag == "number":
            return "i" if isinstance(e[1], int) else "f"
        if tag in ("name", "primed"):
            x = s.find(e[1])
            if isinstance(x, Closure):
                return self.kind(x.tree, x.scope)
            if isinstance(x, Array):
                return x.kind
            return "f" if x is None and e[1] in ("inf", "pi") else "b" if e[1] in ("true", "false") else "i"
        if tag == "ref":
            return self.resolve(s, e[1]).kind
        if tag == "unary":
            return "b" if e[1] == "!" else self.kind(e[2], s)
        if tag == "if":
            kinds = {self.kind(e[2], s), self.kind(e[3], s)}
            return "f" if "f" in kinds else kinds.pop()
        if tag == "binary":
            if e[1] in ("&&", "||") or e[1] in LEVELS[2]:
                return "b"
            return "f" if e[1] == "/" or "f" in (self.kind(e[2], s), self.kind(e[3], s)) else "i"
        if tag == "reduce":
            inner = Scope(s, **{b: Index(None) for b, _ in e[2]})
            return self.reducer_kind(e[1], self.kind(e[5], inner) if e[5][0] != "tuple" else "f")
        if tag == "call":
            return self.call_kind(e, s)
        return "f"

    @staticmethod
    def reducer_kind(name, body):
        if name in ("any", "all"):
            return "b"
        if name in ("sum", "prod", "max", "min", "r_last"):
            return "i" if body == "x" else body
        return "i" if name == "count" else "f"

    def call_kind(self, e, s):
        name, args = e[1], e[2]
        f = s.find(name) if isinstance(s.find(name), tuple) else None
        fn = f[1] if f else self.items["fn"].get(name)
        if args and args[0][0] == "keyed" and not fn:
            return self.reducer_kind(name, self.kind(args[0][3], s))
        if fn:
            return self.kind(fn[1], self.bind(fn, args, s))
        if name in ("min", "max"):
            return "f" if "f" in [self.kind(a, s) for a in args] else "i"
        if name in ("i64", "i32"):
            return "i"
        return self.kind(args[0], s) if name == "stop" else "f"

    # Values
    def value(self, e, s):
        self.steps += 1
        if self.steps > STEPS:
            raise TooLong()
        return getattr(self, "do_" + e[0])(e, s)

    def do_number(self, e, s):
        return e[1]

    def do_name(self, e, s):
        x = s.find(e[1])
        if not s.has(e[1]):
            return {"inf": math.inf, "pi": math.pi, "none": None, "true": True, "false": False}[e[1]]
        if isinstance(x, Closure):
            return self.value(x.tree, x.scope)
        if isinstance(x, Index):
            return x.value
        if isinstance(x, Space):
            return x.size
        return x.data[()] if isinstance(x, Array) else x

    def do_primed(self, e, s):
        return s.find(e[1] + "'")

    def do_ref(self, e, s):
        x, at = self.resolve(s, e[1]), []
        for k, a in enumerate(e[2]):
            i = self.value(a, s)
            if i is None or not 0 <= i < x.axes[k].size:
                raise Undefined("%s at %s" % (e[1], i))
            at.append(i)
        if x.prefix:
            return at[0]
        if tuple(at) not in x.data:
            raise Undefined("%s at %s is not defined" % (e[1], at))
        return x.data[tuple(at)]

    def do_if(self, e, s):
        x = self.value(e[2 if self.value(e[1], s) else 3], s)
        return float(x) if type(x) is int and self.kind(e, s) == "f" else x

    def do_unary(self, e, s):
        x = self.value(e[2], s)
        return (not x) if e[1] == "!" else wrap(-x) if isinstance(x, int) else -x

    def do_binary(self, e, s):
        op = e[1]
        if op in ("&&", "||"):
            return bool(self.value(e[2], s)) and bool(self.value(e[3], s)) if op == "&&" else bool(self.value(e[2], s)) or bool(self.value(e[3], s))
        a, b = self.value(e[2], s), self.value(e[3], s)
        if op in ("==", "!="):
            same = (a is None and b is None) if a is None or b is None else a == b
            return same == (op == "==")
        if op in LEVELS[2]:
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
        return self.arithmetic(op, a, b)

    def arithmetic(self, op, a, b):
        if op == "/":
            return self.noisy(divide(float(a), float(b)))
        if isinstance(a, int) and isinstance(b, int):
            if op == "%":
                return 0 if b == 0 else a % b
            return wrap({"+": a + b, "-": a - b, "*": a * b}[op])
        a, b = float(a), float(b)
        return self.noisy({"+": a + b, "-": a - b, "*": a * b}[op])

    # Calls
    def bind(self, fn, args, s):
        inner = Scope()
        for (name, by), a in zip(fn[0], args):
            if by:
                inner.names[by] = Keys(a[1], a[2], s)
            inner.names[name] = Closure(a[3] if a[0] == "keyed" else a, s)
        return inner

    def do_call(self, e, s):
        name, args = e[1], e[2]
        bound = s.find(name)
        fn = bound[1] if isinstance(bound, tuple) else self.items["fn"].get(name)
        if fn:
            return self.value(fn[1], self.bind(fn, args, s))
        if args[0][0] == "keyed":
            return self.normalise(name, args[0], s)
        x = [self.value(a, s) for a in args]
        if name in ("min", "max"):
            if all(isinstance(a, int) for a in x):
                return min(x) if name == "min" else max(x)
            x = [float(a) for a in x]
            return least(*x) if name == "min" else -least(-x[0], -x[1])
        if name == "rand":
            return uniform(x)
        if name == "stop":
            return x[0]
        if name in CASTS:
            return float(x[0]) if name == "f64" else wrap(to_integer(x[0]), int(name[1:]))
        return self.noisy(power(float(x[0]), float(x[1])) if name == "pow" else MATHS[name](float(x[0])))

    def normalise(self, name, arg, s):
        keys = Keys(arg[1], arg[2], s)
        while len(keys.names) == 1 and isinstance(keys.scope.find(keys.names[0]), Keys):
            keys = keys.scope.find(keys.names[0])
        if keys.how == "over":
            over, own = [self.resolve(keys.scope, n) for n in keys.names], None
        else:
            maps = [self.resolve(keys.scope, n) for n in keys.names]
            over = [self.index_over(keys.scope, maps[0].axes[0])]
            own = [m.data[(over[0].value,)] for m in maps]
        saved = [i.value for i in over]
        terms, kind = [], self.kind(arg[3], s)
        for at in points([i.space for i in over]):
            if own is None or [m.data[at] for m in maps] == own:
                for i, v in zip(over, at):
                    i.value = v
                terms.append([self.value(arg[3], s)])
        for i, v in zip(over, saved):
            i.value = v
        return self.fold(name, terms, kind, 1, s)[0]

    @staticmethod
    def index_over(scope, space):
        while scope is not None:
            for x in scope.names.values():
                if isinstance(x, Index) and x.space.text == space.text:
                    return x
            scope = scope.outer
        raise KeyError(space.text)

    # Reductions
    def do_reduce(self, e, s):
        return self.reduce(e, s)[0]

    def space_of(self, tree, s):
        if tree[0] == "number":
            return Space(str(tree[1]), tree[1])
        if tree[0] == "name":
            return self.resolve(s, tree[1])
        return Space("%s+%s" % (tree[2][1], tree[3][1]), self.value(tree, s))

    def find_space(self, name, trees, s):
        """The axis on which the index stands first."""
        for t in trees:
            if not isinstance(t, (tuple, list)):
                continue
            if t and t[0] == "ref":
                x = self.resolve(s, t[1])
                for k, a in enumerate(t[2]):
                    if a == ("name", name) and isinstance(x, Array):
                        return x.axes[k]
            found = self.find_space(name, t, s)
            if found:
                return found
        return None

    def conjuncts(self, guard):
        if guard is None:
            return []
        return self.conjuncts(guard[2]) + self.conjuncts(guard[3]) if guard[:2] == ("binary", "&&") else [guard]

    def indices(self, tree, s, out):
        """The indices in an expression, by name."""
        if isinstance(tree, (tuple, list)):
            if len(tree) == 2 and tree[0] == "name" and isinstance(self.resolve(s, tree[1]), Index):
                out.add(tree[1])
            for t in tree:
                self.indices(t, s, out)
        return out

    def is_key(self, e, other, s, bound):
        own = self.indices(e, s, set())
        return own and own <= set(bound) and not own & self.indices(other, s, set())

    def holds(self, conjunct, s, bound):
        if conjunct[:2] == ("binary", "=="):   # a key: none matches none but is no match
            a, b = conjunct[2], conjunct[3]
            if ("name", "none") not in (a, b) and (self.is_key(a, b, s, bound) or self.is_key(b, a, s, bound)):
                x, y = self.value(a, s), self.value(b, s)
                return x is not None and y is not None and x == y
        return self.value(conjunct, s)

    def reduce(self, e, s):
        _, name, binders, guard, orelse, body = e
        inner, indices = Scope(s), []
        for b, within in binders:
            space = self.space_of(within, s) if within else self.find_space(b, [guard, body], s)
            inner.names[b] = Index(space)
            indices.append(inner.names[b])
        bound, conjuncts = [b for b, _ in binders], self.conjuncts(guard)
        bodies = body[1] if body[0] == "tuple" else [body]
        terms = []
        for at in points([i.space for i in indices]):
            self.steps += 1
            if self.steps > STEPS:
                raise TooLong()
            for i, v in zip(indices, at):
                i.value = v
            if all(self.holds(c, inner, bound) for c in conjuncts):
                terms.append([self.value(b, inner) for b in bodies])
        if not terms and orelse is not None:
            return [self.value(x, s) for x in (orelse[1] if orelse[0] == "tuple" else [orelse])]
        return self.fold(name, terms, self.kind(bodies[0], inner), len(bodies), s)

    def fold(self, name, terms, kind, nargs, s):
        bound = s.find(name)
        if isinstance(bound, tuple):
            name = bound[1]
        xs = [t[0] for t in terms]
        if name in ("any", "all"):
            return [any(xs) if name == "any" else all(xs)]
        if name in ("sum", "prod", "max", "min"):
            return [self.builtin(name, [float(x) if kind == "f" else x for x in xs], kind)]
        params, results, sections = self.items["reducer"][name]
        state, names = [self.value(x, Scope()) for x in sections["identity"]], [x[1] for x in sections["state"]]
        for t in terms:
            arg = Scope(None, **dict(zip(params, t)))
            lifted = [self.value(x, arg) for x in sections["lift"]]
            both = Scope(None, **dict(zip(names, state)), **{n + "'": v for n, v in zip(names, lifted)})
            state = [self.value(x, both) for x in sections["combine"]]
        return [self.value(x, Scope(None, **dict(zip(names, state)))) for x in sections["finish"]]

    def builtin(self, name, xs, kind):
        if name in ("max", "min"):
            if kind != "f":
                return (max if name == "max" else min)(xs) if xs else (-1 << 63 if name == "max" else (1 << 63) - 1)
            out = -math.inf if name == "max" else math.inf
            for x in xs:
                out = least(out, x) if name == "min" else -least(-out, -x)
            return out
        out = (0 if name == "sum" else 1) if kind != "f" else (0.0 if name == "sum" else 1.0)
        for x in xs:
            out = self.arithmetic("+" if name == "sum" else "*", out, x)
        return out

    def leads_to(self, e, s):
        """The space of an index-valued expression."""
        if e[0] == "reduce":
            within = dict(e[2]).get(e[5][1][1][1]) if e[5][0] == "tuple" else None
            return self.space_of(within, s) if within else None
        x = self.resolve(s, e[1]) if e[0] in ("ref", "name") else None
        if isinstance(x, (Index, Array)):
            return x.space if isinstance(x, Index) else x.into
        return self.leads_to(e[2], s) or self.leads_to(e[3], s) if e[0] == "if" else None

    # Equations
    def run(self, equations, scope, declared):
        for targets, value, binders in equations:
            if value[0] == "opcall":
                self.call_op(targets, value, scope, declared)
            else:
                self.equation(targets, value, dict(binders), scope, declared)

    def equation(self, targets, value, binders, scope, declared):
        axes = self.target_axes(targets[0], binders, scope, declared)
        inner, indices, step = Scope(scope), {}, None
        for a, space in zip(targets[0][1], axes):
            if a[0] == "name":
                indices[a[1]] = Index(space)
            elif a[0] == "binary":
                step = Index(self.space_of(binders[a[2][1]], scope))
                inner.names[a[2][1]] = step
        inner.names.update(indices)
        arrays = []
        for name, _ in targets:
            if not isinstance(scope.find(name), Array):
                kind = self.kind(value, inner) if value[0] != "reduce" or value[1] not in ("argmax", "argmin") else "x"
                scope.names[name] = Array(declared[name].kind if name in declared else kind, axes, self.leads_to(value, inner))
                scope.names[name].narrow = name in declared and declared[name].narrow
            arrays.append(scope.find(name))
        for t in range(step.size if isinstance(step, Space) else step.space.size if step else 1):
            if step:
                step.value = t
            new = []
            for at in points([i.space for i in indices.values()]):
                for i, v in zip(indices.values(), at):
                    i.value = v
                values = self.reduce(value, inner) if value[0] == "reduce" else [self.value(value, inner)]
                for array, (_, place), v in zip(arrays, targets, values):
                    v = wrap(v, 32) if array.narrow else v
                    where = tuple(indices[a[1]].value if a[0] == "name" else a[1] if a[0] == "number" else t + a[3][1] for a in place)
                    new.append((array, where, v))
            for array, where, v in new:
                array.data[where] = v

    def target_axes(self, target, binders, scope, declared):
        name, place = target
        if name in declared:
            return declared[name].axes
        old, out = scope.find(name), []
        for k, a in enumerate(place):
            if isinstance(old, Array):
                out.append(old.axes[k])
            elif a[0] == "name":
                out.append(self.space_of(binders[a[1]], scope))
            else:
                out.append(self.part_axis(name, k, scope))
        return out

    def part_axis(self, name, k, scope):
        most = 0
        for targets, _, binders in self.equations:
            for n, place in targets:
                if n == name and place[k][0] == "number":
                    most = max(most, place[k][1] + 1)
                if n == name and place[k][0] == "binary":
                    s = self.space_of(dict(binders)[place[k][2][1]], scope)
                    return Space("%s+1" % s.text, s.size + 1)
        return Space(str(most), most)

    def call_op(self, targets, value, scope, declared):
        _, name, given, args = value
        generics, params, results, equations = self.items["op"][name]
        inner = Scope()
        for (g, kind), bound in zip(generics, given):
            inner.names[g] = ("fn", self.items["fn"].get(bound)) if kind == "fn" else ("reducer", bound)
        for (p, element, axes, into, _), a in zip(params, args):
            array = scope.find(a[1])
            inner.names[p] = array
            for tree, space in zip(axes, array.axes):
                inner.names.setdefault(tree[1], space)
            if into:
                inner.names.setdefault(into, array.into)
        own = {r: Array("f", [inner.find(a[1]) for a in axes]) for r, _, axes, _, _ in results}
        saved, self.equations = self.equations, equations
        self.run(equations, inner, own)
        self.equations = saved
        for (t, _), (r, _, _, _, _) in zip(targets, results):
            scope.names[t] = inner.find(r)

    def op(self, name, inputs):
        """Inputs by name; results by name."""
        generics, params, results, self.equations = self.items["op"][name]
        scope = Scope(None, **inputs)
        declared = {}
        for r, element, axes, into, _ in results:
            kind = "x" if element == "map" else "b" if element == "bool" else "i" if element[0] == "i" else "f"
            declared[r] = Array(kind, [self.space_of(a, scope) for a in axes], scope.find(into) if into else None)
            declared[r].narrow = element == "i32"
        self.run(self.equations, scope, declared)
        return {r: scope.find(r) for r in declared}


def points(spaces):
    at = [0] * len(spaces)
    if any(s.size == 0 for s in spaces):
        return
    while True:
        yield tuple(at)
        k = len(at) - 1
        while k >= 0 and at[k] + 1 == spaces[k].size:
            at[k] = 0
            k -= 1
        if k < 0:
            return
        at[k] += 1


# ---- Inputs --------------------------------------------------------------------------------------------------------
def write_npy(path, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, "".join("%d," % n for n in shape))
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def read_npy(path):
    with open(path, "rb") as text:
        raw = text.read()
    n = struct.unpack("<H", raw[8:10])[0]
    head = eval(raw[10:10 + n].decode())   # our own tool wrote it
    form = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q", "|b1": "?", "<f2": "e"}[head["descr"]]
    count = (len(raw) - 10 - n) // struct.calcsize(form)
    return list(struct.unpack("<%d%s" % (count, form), raw[10 + n:]))


class Impossible(Exception):
    pass


def map_values(rng, points_, into, facts, by):
    if points_ and into == 0 and "partial" not in facts:
        raise Impossible()
    if "unique" in facts:
        if into < points_:
            raise Impossible()
        values = rng.sample(range(into), points_)
    else:
        values = [rng.randrange(into) if into else None for _ in range(points_)]
    if "partial" in facts:
        values = [None if rng.random() < 0.25 else v for v in values]
    order = lambda v: (v is None, v)
    if "sorted" in facts:
        values.sort(key=order)
    if by is not None:
        for c in set(by):
            where = [i for i in range(points_) if by[i] == c]
            for i, v in zip(where, sorted((values[i] for i in where), key=order)):
                values[i] = v
    return values


def make_inputs(rng, params, sizes, folder, options):
    """Values of the parameters: for the evaluator by name, for gnnc as options."""
    scope = Scope(None, **{n: Space(n, v) for n, v in sizes.items()})
    inputs, e = dict(scope.names), Evaluator({"fn": {}, "reducer": {}, "op": {}}, 0)
    for name, element, axes, into, facts in params:
        words, path = [f for f, a in facts if not a], os.path.join(folder, name + ".npy")
        spaces = [e.space_of(a, scope) for a in axes or []]
        count = math.prod(s.size for s in spaces)
        if element == "map":
            within = [a for f, a in facts if f == "sorted" and a]
            by = [inputs[within[0][0][1]].data[(i,)] for i in range(count)] if within else None
            if "prefix" in words:
                if spaces[0].size > scope.find(into).size:
                    raise Impossible()
                inputs[name] = Array("x", spaces, scope.find(into), prefix=True)
                continue
            values = map_values(rng, count, scope.find(into).size, words, by)
            write_npy(path, "<i8", [s.size for s in spaces], struct.pack("<%dq" % count, *[-1 if v is None else v for v in values]))
            inputs[name] = Array("x", spaces, scope.find(into), dict(zip(points(spaces), values)))
            options += ["--param", "%s=%s" % (name, path)]
            continue
        kind = "b" if element == "bool" else "i" if element[0] == "i" else "f"
        values = [rng.random() < 0.5 if kind == "b" else rng.randint(-3, 5) if kind == "i" else rng.choice([rng.uniform(-2, 2), rng.randint(-3, 3) * 1.0]) for _ in range(count)]
        if axes is None:
            options += ["--param", "%s=%r" % (name, int(values[0]) if kind == "b" else values[0])]
        else:
            form = {"b": ("|b1", "?"), "i": ("<i8", "q") if element == "i64" else ("<i4", "i"), "f": ("<f8", "d")}[kind]
            write_npy(path, form[0], [s.size for s in spaces], struct.pack("<%d%s" % (count, form[1]), *values))
            options += ["--param", "%s=%s" % (name, path)]
        inputs[name] = Array(kind, spaces, None, dict(zip(points(spaces), values)))
    return inputs


# ---- Cases ---------------------------------------------------------------------------------------------------------
class ExactCase(random_ops.Case):
    """Of f64 values, small sizes, no graph, and no casts that round."""
    UNIFORM = "f64(rand(%s))"

    def __init__(self, rng):
        super().__init__(rng)
        for s in self.spaces:
            s.size = min(s.size, 5)

    def storage(self, kind):
        return "f64" if kind == "f" else super().storage(kind)

    def make_spaces(self):
        self.graph, self.generic = "", False
        spaces = super().make_spaces()
        self.defined = spaces
        for s in spaces:
            s.size = min(s.size, 5)
        return spaces

    def exact_text(self):
        text = self.text()
        text = text[text.index("op main"):]
        text = re.sub(r"\b(f16|bf16|f32)\(", "f64(", text)
        text = re.sub(r"\bf32\[", "f64[", text)
        return random_ops.HELPERS + text


def same(want, moved, got):
    """None where the element tells nothing."""
    if isinstance(want, float) or isinstance(moved, float):
        want, moved, got = float(want), float(moved), float(got)
        if want != want or moved != moved:
            return (got != got) if want != want and moved != moved else None
        if math.isinf(want) or math.isinf(moved):
            return got == want if want == moved else None
        if abs(want - moved) > 1e-8 * max(1, abs(want)):
            return None
        return abs(got - want) <= 1e-6 * max(1, abs(want))
    return None if want != moved else got == (-1 if want is None else want)


def compare(folder, results, moved, elements):
    bad, compared, told = [], 0, 0
    for name, array in results.items():
        got = read_npy(os.path.join(folder, "out", "main.%s.npy" % name))
        for k, at in enumerate(points(array.axes)):
            want, other = array.data[at], moved[name].data[at]
            if array.kind == "i" and elements[name] == "i32":
                want, other = wrap(want, 32), wrap(other, 32)
            if array.kind == "f":
                want, other = float(want), float(other)
            verdict = same(want, other, got[k])
            compared, told = compared + 1, told + (verdict is not None)
            if verdict is False:
                bad.append("%s%s is %s, not %s" % (name, list(at), got[k], want))
    return bad, compared, told


def judge(args, number):
    rng = random.Random("reference:%d:%d" % (args.seed, number))
    folder = os.path.join(args.save, "ref-%d-%d" % (args.seed, number))
    os.makedirs(folder, exist_ok=True)
    case = ExactCase(rng)
    text = case.exact_text()
    with open(os.path.join(ROOT, "stdlib", "prelude.gnn")) as prelude:
        items = Parser(prelude.read() + text).file()
    _, params, results, _ = items["op"]["main"]
    sizes, options = {s.name: s.size for s in case.spaces}, []
    path = os.path.join(folder, "case.gnn")
    with open(path, "w") as out:
        out.write(text)
    try:
        inputs = make_inputs(rng, params, sizes, folder, options)
    except Impossible:
        return "refused", "", 0, 0
    for s in case.spaces:
        options += ["-D", "%s=%d" % (s.name, s.size)]
    command = [args.gnnc, "run", path, "--op", "main", "--no-schedule", "--target=host", "-O0", "--out", os.path.join(folder, "out")] + options
    try:
        wanted = Evaluator(items, 0).op("main", dict(inputs))
        moved = Evaluator(items, 1e-11).op("main", dict(inputs))
    except TooLong:
        return "long", "", 0, 0
    except Undefined as e:
        wanted, why = None, str(e)
    done = subprocess.run(command, capture_output=True, timeout=60)
    shown = " ".join(command)
    if wanted is None:
        return ("undefined", "%s: accepted, though it reads %s" % (shown, why), 0, 0) if done.returncode == 0 else ("refused", "", 0, 0)
    if done.returncode:
        return "status", "%s\n%s" % (shown, done.stderr.decode("utf-8", "replace")[:800]), 0, 0
    bad, compared, told = compare(folder, wanted, moved, {r: element for r, element, _, _, _ in results})
    if bad:
        return "differs", "%s\n    %s" % (shown, "\n    ".join(bad[:4])), compared, told
    return "right", "", compared, told


def one(args, number):
    folder = os.path.join(args.save, "ref-%d-%d" % (args.seed, number))
    verdict = judge(args, number)
    if verdict[0] in ("right", "refused", "long"):
        for where, _, files in os.walk(folder, topdown=False):
            for f in files:
                os.remove(os.path.join(where, f))
            os.rmdir(where)
    return number, verdict


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", default="reference.faults")
    args = parser.parse_args()
    os.makedirs(args.save, exist_ok=True)
    began, counts, compared, told = time.time(), {}, 0, 0
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        work = [pool.submit(one, args, n) for n in range(args.first, args.first + args.cases)]
        for w in work:
            number, (kind, text, c, t) = w.result()
            counts[kind] = counts.get(kind, 0) + 1
            compared, told = compared + c, told + t
            if text:
                print("case %d of seed %d: %s\n%s\n" % (number, args.seed, kind, text), flush=True)
    faults = sum(counts.get(k, 0) for k in ("differs", "undefined", "status"))
    print("%d cases: %d right, %d refused, %d too long, %d faults; %d of %d elements compared, in %.0f s" % (
        args.cases, counts.get("right", 0), counts.get("refused", 0), counts.get("long", 0), faults, told, compared, time.time() - began))
    return 1 if faults or not counts.get("right") else 0


if __name__ == "__main__":
    sys.exit(main())
