#!/usr/bin/env python3
"""Random schedules of the library's ops, executed and compared with the ops' definitions.

Usage: random_schedules.py GNNC [--cases N] [--seed S] [--first I] [--jobs 2] [--save DIR] [--op NAME] [--padded] [--executed SHARE]

A case is an op of the library or of test/run/new_ops.gnn, a schedule of it, and a command line; all follow from the seed and
the number of the case. Statements are made from the forms in ir/schedule.def, of those that have a pass there. A case is
right, unfit (guards of the inputs do not hold), or refused by a diagnostic E05xx that offers help. Everything else is a
fault: another result, a report of the simulator, an internal fault, a time-out. A fault is saved to DIR and made smaller:
statements and options are dropped and numbers lowered while it fails in the same way. The exit status is 1 if there was a
fault, or if less than SHARE per cent of the schedules were executed.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 60
NAME = "main"
INPUT = {"E0819", "E0820"}   # sizes that do not go together, symmetric(src, dst) on a graph that is not

GRAPHS = ["er:9:20", "er:20:90", "empty:0", "empty:4", "star:7", "star:40", "path:6", "er:1:3", "er:12:30,types=4", "grid:3:4",
          "clique:5", "rmat:4:5,types=3", "batch:3:4:0.5", "hubs:20:70"]
DENSE = [0, 1, 2, 3, 4, 4, 5, 7, 8, 8, 12, 16, 32, 33]
NUMBERS = {"block": [1, 2, 3, 4, 8, 12, 64], "groups": [1, 2, 2, 3, 4, 8], "lanes": [1, 2, 2, 4, 8, 16, 32, 3, 64],
           "registers": [1, 2, 2, 3, 4], "vector": [1, 2, 2, 4, 3, 8], "tile": [1, 2, 4, 5, 8, 16], "unroll": [1, 2, 3, 4, 16],
           "at": [1, 2, 3, 5, 8]}
OTHER_NUMBERS = [1, 2, 3, 4, 6, 7, 8]
CHECKER = re.compile(r"E05(1|2|31|32|33)")   # refused before there is a plan
KIND = re.compile(r"[A-Z]+$")


# ---- What there is -------------------------------------------------------------------------------------------------
class Table:
    """The rows of ir/schedule.def that a generator needs."""

    def __init__(self, path):
        with open(path) as f:
            text = re.sub(r"//.*", "", f.read())
        self.words, self.forms, self.needs = {}, {}, {}
        for kind, word, needs in re.findall(r'^WORD\((\w+), "([^"]*)", "([^"]*)"', text, re.M):
            self.words.setdefault(kind, []).append(word)
            self.needs[word] = needs
        for verb, form, needs, by in re.findall(r'^STATEMENT\(\w+, "([^"]*)", "([^"]*)", "[^"]*", "([^"]*)", "([^"]*)"', text, re.M):
            if by:
                self.forms[verb], self.needs[verb] = form, needs


class Stage:
    def __init__(self, name, left, bound, reducer, orelse):
        self.name, self.left, self.bound = name, left, bound   # pairs of an index and its space
        self.reducer, self.orelse = reducer, orelse

    def indices(self):
        return self.left + self.bound


class Op:
    def __init__(self, name, file, text):
        self.name, self.file = name, file
        self.spaces = re.findall(r"^  space (\w+)$", text, re.M)
        self.values = re.findall(r"^  (?:tensor|map|result) (\S+) :", text, re.M)
        self.results = re.findall(r"^  result (\S+) :", text, re.M)
        self.generic = "_f32" in text.split(" ", 2)[1]
        self.maps = [(m, re.findall(r"\w+", a), b) for m, a, b in re.findall(r"^  map (\S+) : (.*?) -> (\w+)", text, re.M)]
        self.sparse = {s for _, a, b in self.maps for s in a + [b]}
        self.stages = [s for s in (self.stage(chunk) for chunk in re.split(r"\n(?=  \S)", text)) if s]

    @staticmethod
    def stage(chunk):
        head = re.match(r"\s+(?:for .*?: )?(?:([\w.]+): )?([\w.]+)\[([^\]=]*)\]", chunk)
        if not head or not re.search(r"=", chunk):
            return None
        spaced = r"([A-Za-z]\w*):(\w+)"
        bound = re.search(r"= ([\w.]+) \{((?:%s(?:, )?)+)" % spaced, chunk)
        left, reduced = re.findall(spaced, head.group(3)), re.findall(spaced, bound.group(2)) if bound else []
        source = [[(i.rstrip("_"), s) for i, s in indices] for indices in (left, reduced)]   # tensor IR makes names unique
        return Stage(head.group(1) or head.group(2), *source, bound.group(1) if bound else "", bool(re.search(r"\) else \(", chunk)))

    def indices(self):
        return sorted({i for s in self.stages for i in s.indices()})


def read_ops(gnnc, files):
    ops = []
    for file in files:
        done = subprocess.run([gnnc, file, "-D", "S=3", "-Wno-unused-option", "--emit=tensor", "-o", "-"], capture_output=True, text=True)
        for text in re.split(r"^(?=op )", done.stdout, flags=re.M)[1:]:
            ops.append(Op(re.sub(r"_f32$", "", text.split(" ", 2)[1]), file, text))
    return [op for op in ops if op.stages]


# ---- A case --------------------------------------------------------------------------------------------------------
class Statement:
    """Words are texts and numbers; a list among them is an option."""

    def __init__(self, verb, words, stages=()):
        self.verb, self.words, self.stages = verb, words, list(stages)

    def __str__(self):
        def text(words):
            return " ".join(text(w) if isinstance(w, list) else str(w) for w in words)
        return "    %s%s %s;" % (", ".join(self.stages) + ": " if self.stages else "", self.verb, text(self.words))


class Schedule:
    def __init__(self, name, like=None):
        self.name, self.like, self.statements = name, like, []

    def text(self, op, target):
        head = "schedule %s %s%s%s {\n" % (op, self.name, " like " + self.like if self.like else "", " for " + ("host" if target == "host" else "sm_90"))
        return head + "".join(str(s) + "\n" for s in self.statements) + "}\n"


class Case:
    def __init__(self, rng, table, ops, padded=False):
        self.rng, self.table, self.op, self.padded, self.pads = rng, table, rng.choice(ops), padded, {}
        self.target = rng.choice(["sim", "sim", "sim", "host"])
        self.verbs = [v for v in table.forms if self.has(v)]
        self.sizes = {s: rng.choice(DENSE) for s in self.op.spaces if s not in self.op.sparse}
        self.schedules = [Schedule(NAME)]
        if rng.random() < 0.15:
            self.schedules = [Schedule("base"), Schedule(NAME, "base")]
        for s in list(self.schedules):
            self.fill(s)
        self.choose_options()

    # ---- Statements ----------------------------------------------------------------------------------------------
    def has(self, word):
        """Has a word a meaning for the target?"""
        return self.table.needs.get(word, "") in ([""] if self.target == "host" else ["", "gpu", "sm_90"])

    def fill(self, schedule):
        rng = self.rng
        if rng.random() < 0.85:
            self.tidy(schedule)
        for _ in range(rng.choice([0, 0, 0, 0, 1, 2]) if schedule.statements else rng.randint(1, 3)):
            self.add(schedule, rng.choice(self.verbs))
        rng.shuffle(schedule.statements)

    def put(self, schedule, verb, words, stages=()):
        key = (verb, words[0] if words else "", tuple(stages))
        if verb in self.verbs and key not in [(s.verb, s.words[0] if s.words else "", tuple(s.stages)) for s in schedule.statements]:
            schedule.statements.append(Statement(verb, words, stages))

    def tidy(self, schedule):
        """Cells that go together: parts that divide wholes, powers of two, few enough threads, vectors of dense indices. Said for all
        stages at once, or for one alone."""
        rng, op = self.rng, self.op
        self.threads = {"lanes": 32, "groups": 8}
        stages = [rng.choice(op.stages)] if rng.random() < 0.1 else op.stages
        prefix = [stages[0].name] if len(stages) < len(op.stages) else []
        outer = {s.left[0][0] for s in stages if s.left}
        reduced = {i for s in stages for i, _ in s.bound}
        dealt = sorted({i for s in stages for i in s.indices()})
        dense = [i for i, space in dealt if space in self.sizes] if rng.random() < 0.95 else [i for i, _ in dealt]
        vector = rng.choice(dense) if dense and rng.random() < 0.5 else None
        self.pads = {}
        for index in dense:
            if "pad" in self.verbs and rng.random() < (0.95 if self.padded else 0.15):
                self.pads[index] = rng.choice([2, 4, 8, 8, 16, 3, 6])
                self.put(schedule, "pad", [index, self.pads[index]], prefix)
        for index, space in rng.sample(dealt, min(len(dealt), rng.randint(1, 3))):
            self.deal_out(schedule, index, space if index == vector else None, index in outer, index in reduced, prefix)
        if self.padded and vector and vector not in [s.words[0] for s in schedule.statements if s.verb == "vector"]:
            self.deal_out(schedule, vector, dict(dealt)[vector], vector in outer, vector in reduced, prefix)
        if len(op.stages) > 1 and "fuse" in self.verbs and rng.random() < 0.15:
            self.fuse(schedule)
        if "loops" in self.verbs and rng.random() < 0.08:
            self.nest(schedule, rng.choice(stages), prefix)
        if rng.random() < 0.15:
            self.add(schedule, rng.choice([v for v in self.verbs if v not in NUMBERS] or self.verbs))
        for verb in ("accumulate", "compute"):
            sums = [s for s in op.stages if s.reducer == "sum"]   # they take any type, and a factor
            if verb in self.verbs and rng.random() < 0.1 and (sums or rng.random() < 0.1):
                self.add(schedule, verb, sums if rng.random() < 0.9 else op.stages)

    def fuse(self, schedule):
        """Neighbours in the order of stages, one of them kept somewhere perhaps."""
        rng, op = self.rng, self.op
        start = rng.randrange(len(op.stages) - 1)
        stages = op.stages[start:start + rng.choice([2, 2, 3, len(op.stages)])]
        indices, walked = [s.left[0][0] for s in stages if s.left], [i for s in stages for i, space in s.bound if space in op.sparse]
        if indices and walked and rng.random() < 0.3:
            self.put(schedule, "fuse", [", ".join(s.name for s in stages), "at", rng.choice(walked)])
            self.hold(schedule, stages)
        elif indices:
            self.put(schedule, "fuse", [", ".join(s.name for s in stages), "at", rng.choice(indices[-1:] * 2 + indices)])
        if indices and rng.random() < 0.1:
            self.add(schedule, rng.choice(["order", "bucket"]))
        if indices:
            if rng.random() < 0.5:
                place = rng.choice([w for w in self.table.words["PLACE"] if self.has(w)])
                self.put(schedule, "keep", [rng.choice(stages).name, place])

    def tiles(self, schedule, index, part, prefix):
        """By a map of the index, in the order of which it is visited."""
        rng = self.rng
        spaces = {space for stage in self.op.stages for i, space in stage.left if i == index}
        maps = [m for m, a, _ in self.op.maps if a == list(spaces)]
        if not maps or rng.random() < 0.75:
            return []
        by = rng.choice(maps)
        if rng.random() < 0.9:
            self.put(schedule, "order", [index, "by", by], prefix)
        options = [["group", rng.choice([1, 2, 3])], ["largest"], ["round", part]]
        return [["by", by] + [o for o in options if rng.random() < 0.4]]

    def nest(self, schedule, stage, prefix):
        """Left indices turned round, which deal out to blocks together; or a reduced one outside left ones."""
        indices = [i for i, _ in (stage.left if self.rng.random() < 0.6 else stage.indices()[1:] + stage.left[:1])]
        if len(indices) < 2:
            return
        self.put(schedule, "loops", [", ".join(self.rng.sample(indices, self.rng.randint(2, len(indices))))], prefix)
        if any(s.verb == "block" for s in schedule.statements):
            for index, _ in stage.left:
                self.put(schedule, "block", [index, 64], prefix)

    def hold(self, schedule, stages):
        """Inner indices dealt out at once, so that what is around them is walked once."""
        for index, space in sorted({(i, s) for stage in stages for i, s in stage.left[1:] if s in self.sizes}):
            schedule.statements = [s for s in schedule.statements if not s.words or s.words[0] != index]
            lanes = self.rng.choice([1, 2, 4, 8]) if "lanes" in self.verbs else 1
            self.put(schedule, "lanes", [index, lanes])
            self.put(schedule, "registers", [index, -(-max(self.sizes[space], 1) // lanes)] + self.rng.choice([[], [["strided"]]]))

    def deal_out(self, schedule, index, vector, outer, reduced, prefix):
        rng, part = self.rng, 1
        chances = {"vector": 0.9 if vector else 0, "registers": 0.25, "lanes": 0.5, "groups": 0.25}
        runs = reduced and not outer and rng.random() < 0.4   # other blocks go on with it: along a key, with groups alone
        if runs:
            chances = {"groups": 0.5} if rng.random() < 0.9 else chances
        for verb, chance in chances.items():
            n = min(rng.choice([2, 2, 4, 8, 16, 32]), self.threads.get(verb, 4))
            if verb == "vector":
                n = rng.choice([n for n in (2, 4, 8) if self.pads.get(index, self.sizes.get(vector, 8)) % n == 0] or [1])
            if n > 1 and verb in self.verbs and rng.random() < chance:
                self.put(schedule, verb, [index, n] + ([["strided"]] if verb == "registers" and rng.random() < 0.4 else []), prefix)
                part *= n
                if verb in self.threads:
                    self.threads[verb] //= n
                if reduced and not runs and verb in ("lanes", "groups") and rng.random() < 0.4:
                    self.put(schedule, "combine", [index, "shuffle" if verb == "lanes" else "shared"], prefix)
            if verb == "lanes" and not outer and rng.random() < 0.3:
                part *= rng.choice([1, 2, 3, 4])
                self.put(schedule, "tile", [index, part], prefix)
        if runs and rng.random() < 0.4:
            plain = all(s.reducer == "sum" and not s.orelse for s in self.op.stages if index in [i for i, _ in s.bound])
            self.put(schedule, "combine", [index, "atomic" if plain and rng.random() < 0.6 else "staged"], prefix)
        if runs and rng.random() < 0.3:
            part = max(2, part * rng.choice([1, 2, 3]))
            self.put(schedule, "tile", [index, part], prefix)
        block = outer and rng.random() < 0.6
        if block or runs:
            tiles = self.tiles(schedule, index, part, prefix) if block else []
            self.put(schedule, "block", [index, part * rng.choice([1, 1, 2, 3])] + tiles, prefix)
        elif not outer and rng.random() < 0.3:
            self.put(schedule, "unroll", [index, rng.choice([2, 3, 4])], prefix)

    def add(self, schedule, verb, among=()):
        """A statement for all stages or one; for one of those among which it is."""
        rng, op = self.rng, self.op
        self.schedule, self.stages, self.verb = schedule, op.stages, verb
        prefix = []
        if among or rng.random() < 0.4:
            self.stages = [rng.choice(among or op.stages)]
            prefix = [self.stages[0].name]
        self.index = rng.choice([i for s in self.stages for i in s.indices()] or [("none", "none")])
        if verb in ("order", "bucket") and rng.random() < 0.9:
            self.index = rng.choice([s.left[0] for s in self.stages if s.left] or [self.index])
        try:
            words = self.words(self.parse(self.table.forms[verb]), verb)
        except IndexError:   # nothing of a kind that the form wants
            return
        if rng.random() < 0.05 and schedule.like and words:
            words = words[:1] + ["none"]
        if rng.random() < 0.1:
            self.name_number(schedule, words)
        if verb == "bucket":   # its classes say what a block owns
            schedule.statements = [s for s in schedule.statements if s.verb != "block" or s.words[0] != words[0]]
        self.put(schedule, verb, words, prefix)

    def name_number(self, schedule, words):
        for k, w in enumerate(words):
            if isinstance(w, int):
                let = "N%d" % len(schedule.statements)
                choice = "%d" % w + (" | %d" % self.rng.choice(OTHER_NUMBERS) if self.rng.random() < 0.5 else "")
                schedule.statements.append(Statement("let", [let, "=", choice]))
                words[k] = let if self.rng.random() < 0.7 else "%s * 1" % let
                return
        if self.rng.random() < 0.5 and words and isinstance(words[-1], int):
            words[-1] = "%d | %d" % (words[-1], self.rng.choice(OTHER_NUMBERS))

    @staticmethod
    def parse(form):
        stack = [[]]
        for word in re.findall(r"[\[\]]|[^\s\[\]]+", form):
            if word == "[":
                stack.append([])
            elif word == "]":
                last = stack.pop()
                stack[-1].append(last)
            else:
                stack[-1].append(word)
        return stack[0]

    def words(self, form, keyword):
        """What the form asks for; the keyword before a number says which numbers are apt."""
        out = []
        for part in form:
            if isinstance(part, list):
                if self.rng.random() < {"keep": 0.06}.get(self.verb, 0.2) and self.has(part[0]):
                    out.append(self.words(part, keyword))
            elif KIND.match(part):
                out.append(self.word(part, keyword))
            else:
                out.append(part)
                keyword = part
        return out

    def word(self, kind, keyword):
        rng, op, (index, space) = self.rng, self.op, self.index
        one_space = len({s for stage in self.stages for i, s in stage.indices() if i == index}) == 1
        from_space = [m for m, a, _ in op.maps if a == [space] and one_space]
        into_space = [m for m, a, b in op.maps if b == space and len(a) == 1 and one_space]
        if kind in self.table.words:
            return rng.choice([w for w in self.table.words[kind] if self.has(w)])
        if kind == "INDEX":
            return index
        if kind == "REDUCED":
            return rng.choice([i for s in self.stages for i, _ in s.bound])
        if kind == "INDICES":
            indices = [i for i, _ in rng.choice([s for s in self.stages if s.indices()]).indices()]
            return ", ".join(rng.sample(indices, rng.randint(1, len(indices))))
        if kind == "STAGES":
            names = [s.name for s in op.stages]
            if self.verb == "inline":
                names = [n for n in names if n not in op.results and not any(o.name.startswith(n + ".") for o in op.stages)]
                return rng.choice([s.name for s in op.stages if s.name in names and not s.bound])
            start = rng.randrange(len(names))
            return ", ".join(names[start:start + rng.choice([1, 1, 2, 2, 3])])
        if kind == "VALUES":
            return ", ".join(rng.sample(op.values + [s.name for s in op.stages], rng.choice([1, 1, 2])))
        if kind == "COUNT":
            return rng.choice(NUMBERS.get(keyword, OTHER_NUMBERS))
        if kind == "WIDTH":
            return "fit" if rng.random() < 0.1 else rng.choice(NUMBERS["lanes"])
        if kind in ("MAP", "SOURCE"):
            return rng.choice(from_space if kind == "MAP" else [m for m, _, _ in op.maps])
        if kind == "KEY":
            return rng.choice(["degree(%s, %s)" % (m, index) for m in into_space] * 3 + ([] if self.verb == "bucket" else from_space))
        if kind == "LIMITS":
            self.limits = sorted(rng.sample(NUMBERS["at"], rng.randint(1, 2)))
            return ", ".join(str(n) for n in self.limits)
        if kind == "SCHEDULES":
            return ", ".join(self.class_schedule() for _ in range(len(self.limits) + 1))
        if kind == "FACTOR":
            left = {space: i for s in self.stages for i, space in s.left}
            degrees = ["1 / degree(%s, %s)" % (m, left[b]) for m, a, b in op.maps if b in left and len(a) == 1]
            return rng.choice(["1 / 4", "0.5", "2"] + degrees * 3)
        raise KeyError("random_schedules.py does not know words of kind %s" % kind)

    def class_schedule(self):
        s = Schedule("class%d" % len(self.schedules))
        self.tidy(s)
        self.schedules.insert(0, s)
        return s.name

    # ---- Inputs --------------------------------------------------------------------------------------------------
    def choose_options(self):
        rng, op = self.rng, self.op
        self.options = ["--graph=" + rng.choice(GRAPHS)]
        for s, size in self.sizes.items():
            if not (op.name == "cheb" and s == "P"):
                self.options += ["-D", "%s=%d" % (s, size)]
        if op.name in ("appnp", "sgc", "cheb"):
            self.options += ["-D", "S=3"]
        if op.generic:
            self.options += ["-D", "T=" + rng.choice(["f32", "f32", "f32", "f16", "bf16", "f64"])]
        self.options += rng.choice([[], [], ["--layout=strided"], ["--layout=misaligned"], ["--layout=broadcast"]])
        self.options += rng.choice([[], [], ["--edges=mixed"]]) + rng.choice([[], [], ["--values=special"]])
        self.options += rng.choice([[], ["--no-deterministic"]])
        self.options += rng.choice([[], [], ["--index=64"]]) + rng.choice([[], [], [], ["--inplace"]])
        self.options += ["--seed=%d" % rng.randrange(100)]
        self.options += ["--sim-seed=%d" % rng.randrange(100)] if self.target == "sim" else rng.choice([["-O0"], []])

    def text(self):
        stem = os.path.splitext(os.path.basename(self.op.file))[0]
        return 'import "%s";\n\n' % stem + "\n".join(s.text(self.op.name, self.target) for s in self.schedules)


# ---- Running -------------------------------------------------------------------------------------------------------
class Outcome:
    def __init__(self, status, text, errors):
        self.status, self.errors = status, errors
        codes = re.findall(r"error\[(E\d+)\]", errors)
        rows = [re.split(r"\s{2,}", line.strip()) for line in text.splitlines()]
        mine = [r[-1] for r in rows if len(r) > 4 and r[3].split(" ")[0] == NAME]
        self.kind = "status %s %s" % (status, codes[0] if codes else "")
        if status == 0 and mine and all(v in ("right", "unfit") for v in mine):
            self.kind = "right" if "right" in mine else "unfit"
        elif status == 1 and codes and set(codes) <= INPUT:
            self.kind = "input"
        elif status == 1 and codes and all(c.startswith("E05") for c in codes):
            self.kind = ("refused " if "help: " in errors or CHECKER.match(codes[0]) else "no way out ") + codes[0]
        elif status == 70:
            self.kind = "internal fault " + (re.findall(r"internal fault at \S*?([a-z_]+\.[ch]:\d+)", errors) or ["?"])[0]

    def good(self):
        return self.kind in ("right", "unfit", "input") or self.kind.startswith("refused ")


def run(gnnc, case, path):
    with open(path, "w") as out:
        out.write(case.text())
    command = [gnnc, "run", path, "-I", os.path.dirname(case.op.file), "--op", case.op.name, "--schedule=" + NAME, "--target=" + case.target,
               "--check", "--all-plans", "-Wno-unused-let"] + case.options
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return Outcome("timeout", "", ""), command
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")), command


# ---- Making it smaller ---------------------------------------------------------------------------------------------
def changed(owner, k, new):
    """A pair of functions: puts the list `new` for element k of owner, and takes it back."""
    old = list(owner)

    def put():
        owner[k:k + 1] = new

    def back():
        owner[:] = old
    return put, back


def word_tries(words):
    for k, w in enumerate(words):
        if isinstance(w, list):
            yield changed(words, k, [])
            yield from word_tries(w)
        elif isinstance(w, int):
            for less in sorted({1, 2, w // 2}):
                if 0 < less < w:
                    yield changed(words, k, [less])


def tries(case):
    for k in range(len(case.schedules)):
        yield changed(case.schedules, k, [])
    for s in case.schedules:
        for k in range(len(s.statements)):
            yield changed(s.statements, k, [])
    for s in case.schedules:
        for statement in s.statements:
            for k in range(len(statement.stages)):
                yield changed(statement.stages, k, [])
            yield from word_tries(statement.words)
    for k, word in enumerate(case.options):
        if word.startswith("--graph"):
            for graph in ("--graph=empty:1", "--graph=er:1:1", "--graph=path:3", "--graph=star:7"):
                if len(graph) < len(word) or word not in ("--graph=empty:1", "--graph=er:1:1", "--graph=path:3", "--graph=star:7"):
                    yield changed(case.options, k, [graph])
        elif re.match(r"[A-Z]+=\d", word):
            size = int(word.split("=")[1])
            for less in sorted({1, 2, size // 2}):
                if less < size:
                    yield changed(case.options, k, ["%s=%d" % (word.split("=")[0], less)])
        elif word.startswith("T=") and word != "T=f32":
            yield changed(case.options, k, ["T=f32"])
        elif word.startswith("-") and word != "-D":
            yield changed(case.options, k, [])


def shrink(gnnc, case, kind, path, budget=300):
    smaller = True
    while smaller and budget > 0:
        smaller = False
        for change, back in tries(case):
            budget -= 1
            if budget < 0:
                break
            change()
            if run(gnnc, case, path)[0].kind == kind:
                smaller = True
                break
            back()


# ---- All of them ---------------------------------------------------------------------------------------------------
def one(args, table, ops, number):
    case = Case(random.Random("%d:%d" % (args.seed, number)), table, ops, args.padded)
    path = os.path.join(args.save, "case-%d-%d.gnn" % (args.seed, number))
    outcome, command = run(args.gnnc, case, path)
    if outcome.good():
        if not args.keep:
            os.remove(path)
        return number, outcome, ""
    small = path.replace("case-", "small-")
    if args.shrink:
        shrink(args.gnnc, case, outcome.kind, small)
        said, command = run(args.gnnc, case, small)
        return number, outcome, case.text() + "\n" + " ".join(command) + "\n" + "\n".join(said.errors.splitlines()[:8])
    return number, outcome, " ".join(command) + "\n" + "\n".join(outcome.errors.splitlines()[:8])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--save", default="random_schedules.faults", help="folder for what fails")
    parser.add_argument("--op", help="this op only")
    parser.add_argument("--padded", action="store_true", help="pad nearly every dense index")
    parser.add_argument("--executed", type=int, default=0, help="least share of schedules that are executed, in per cent")
    parser.add_argument("--keep", action="store_true", help="keep the files of all cases")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false")
    args = parser.parse_args()
    os.makedirs(args.save, exist_ok=True)
    stdlib = os.path.join(ROOT, "stdlib")
    files = sorted(os.path.join(stdlib, f) for f in os.listdir(stdlib) if f.endswith(".gnn") and f != "prelude.gnn")
    ops = read_ops(args.gnnc, files + [os.path.join(ROOT, "test", "run", "new_ops.gnn")])
    ops = [op for op in ops if not args.op or op.name == args.op]
    table = Table(os.path.join(ROOT, "ir", "schedule.def"))
    began, kinds, faults = time.time(), {}, 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for number, outcome, text in pool.map(lambda n: one(args, table, ops, n), range(args.first, args.first + args.cases)):
            kinds[outcome.kind] = kinds.get(outcome.kind, 0) + 1
            if not outcome.good():
                faults += 1
                print("case %d of seed %d: %s\n%s\n" % (number, args.seed, outcome.kind, text), flush=True)
    right, unfit = kinds.get("right", 0), kinds.get("unfit", 0)
    refused = sum(n for kind, n in kinds.items() if kind.startswith("refused "))
    for kind, n in sorted(kinds.items()):
        print("    %d x %s" % (n, kind))
    print("%d cases of %d ops: %d right, %d unfit, %d refused, %d faults in %.0f s" %
          (args.cases, len(ops), right, unfit, refused, faults, time.time() - began))
    return 1 if faults or 100 * right < args.executed * args.cases or not right else 0


if __name__ == "__main__":
    sys.exit(main())
