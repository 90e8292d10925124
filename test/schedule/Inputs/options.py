#!/usr/bin/env python3
"""Each option of each statement of ir/schedule.def, and each word that may stand in it, is said by a schedule that compiles.

Usage: options.py GNNC TABLE FILE...   The schedules are those of the files: sources, or Markdown with sources in ```gnn blocks.
What no schedule says, or only such that are refused, is listed.
"""
import re
import subprocess
import sys
import tempfile

HEAD = re.compile(r"^schedule ([\w.]+) (\w+)([^{\n]*)\{", re.M)


def statements(table):
    """By verb: what its form asks for besides its subject, as patterns of what a schedule says."""
    text = open(table, encoding="utf-8").read()
    rows = re.findall(r'^STATEMENT\(\w+, "(\w+)", "([^"]*)", "[^"]*", "[^"]*", "([^"]*)"', text, re.M)
    words = {}
    for kind, word in re.findall(r'^WORD\((\w+), \w+, "(\w+)"', text, re.M):
        words.setdefault(kind, []).append(word)
    return {verb: list(patterns(form, words)) for verb, form, by in rows if by}


def patterns(form, words):
    depth = 0
    for part in re.findall(r"\[|\]|\w+", form):
        depth += (part == "[") - (part == "]")
        if part in words:
            yield from ((word, r"\b%s\b" % word) for word in words[part])
        elif depth and part.islower():
            yield part, r"\b%s\b" % part
        elif depth and part == "COUNT" and form.startswith("["):
            yield part, r"\d"
        elif part == "SHAPE":
            yield part, r"\bm\d+[nk]\d+"
        elif part == "WIDTH":
            yield "fit", r"\bfit\b"


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def blocks(path):
    text = open(path, encoding="utf-8").read()
    return re.findall(r"^```gnn\n(.*?)^```$", text, re.M | re.S) if path.endswith(".md") else [text]


def schedules(source):
    """The schedules of a source: op, name, what it is for, and its statements."""
    for m in HEAD.finditer(source):
        depth, at = 1, m.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(source[at], 0)
            at += 1
        yield m.group(1), m.group(2), m.group(3), re.split(r"[;{}]", without_comments(source[m.end():at]))


def says(statements_of, verb, pattern):
    said = re.compile(r"(?:^|:|\btune)\s*%s\b.*%s" % (verb, pattern), re.S)
    return any(said.search(s) for s in statements_of)


class Compiler:
    def __init__(self, gnnc, folder):
        self.gnnc, self.folder, self.done = gnnc, folder, {}

    def takes(self, source, op, name, head):
        """Whether the loop IR of that schedule is made."""
        key = (source, op, name)
        if key not in self.done:
            path = self.folder + "/source.gnn"
            open(path, "w", encoding="utf-8").write(source)
            machine = re.search(r"\bfor (\w+)", head)
            target = [] if not machine else ["--target=host"] if machine.group(1) == "host" else ["--arch=" + machine.group(1)]
            command = [self.gnnc, "--emit=loop", "-o", "/dev/null", "-D", "F=64", "--op=" + op, "--schedule=" + name, path]
            ran = subprocess.run(command + target, capture_output=True, text=True, timeout=60)
            self.done[key] = None if ran.returncode == 0 else ran.stderr
        return self.done[key] is None


def main():
    gnnc, table, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    sources = [b for path in files for b in blocks(path)]
    every = [(source,) + s for source in sources for s in schedules(source)]
    missing = []
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(gnnc, folder)
        for verb, wanted in statements(table).items():
            for word, pattern in wanted:
                saying = [s for s in every if says(s[4], verb, pattern)]
                if not any(compiler.takes(*s[:4]) for s in saying):
                    missing.append("no schedule that compiles says '%s' of '%s'%s" % (word, verb, ": %d are refused" % len(saying) if saying else ""))
    print("\n".join(missing))
    return 1 if missing or not every else 0


if __name__ == "__main__":
    sys.exit(main())
