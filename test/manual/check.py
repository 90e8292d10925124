#!/usr/bin/env python3
"""Checks the examples of a Markdown file. Usage: check.py GNNC FILE.md

A block fenced as ```gnn is a source that `gnnc check` takes without a word and that compiles: each of its schedules, or its ops where
it has none. A comment behind a schedule, `// Q = 64`, gives sizes besides those below. One fenced as ```gnn-error E0403 is refused with that code and no other; of what follows at once in a block fenced as
```message each line stands in what is reported then.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(gnn(?:-\w+)?)[ \t]*(\w*)[^\n]*\n(.*?)^```[ \t]*$(?:\n```message\n(.*?)^```[ \t]*$)?", re.M | re.S)
SCHEDULE = re.compile(r"^schedule ([\w.]+) (\w+)(?:[^{\n]*? for (\w+))?[^\n/]*(?://([^\n]*))?", re.M)
SIZES = {"D": "64", "F": "64", "H": "8", "K": "64", "S": "3"}


def run(gnnc, arguments):
    done = subprocess.run([gnnc, "--diagnostics-format=json", "--max-errors=0"] + arguments, capture_output=True, text=True, timeout=60)
    found = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return done.returncode, found, done.stderr


def sizes(comment):
    given = dict(SIZES, **dict(re.findall(r"\b([A-Z]) = (\d+)", comment)))
    return ["-Wno-unused-option"] + [word for size in given.items() for word in ("-D", "%s=%s" % size)]


def compilations(source):
    """The arguments of each: an op by one of its schedules, for what that is; or all ops."""
    for op, name, target, comment in SCHEDULE.findall(source):
        machine = [] if not target else ["--target=host"] if target == "host" else ["--arch=" + target]
        yield ["--op=" + op, "--schedule=" + name] + machine + sizes(comment)
    if re.search(r"^op ", source, re.M) and not SCHEDULE.search(source):
        yield sizes("")


def take(gnnc, source):
    """What is reported of the source first, by `check` or by a compilation: status, diagnostics, text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.gnn")
        open(path, "w").write(source)
        ran = run(gnnc, ["check", path])
        for more in compilations(source):
            if ran[0] or ran[2]:
                break
            ran = run(gnnc, [path, "--emit=loop", "-o", folder + "/"] + more)
        return ran


def fault(gnnc, kind, code, source, message):
    if kind not in ("gnn", "gnn-error") or (kind == "gnn-error") != bool(code):
        return "blocks are marked gnn, or gnn-error and a code"
    status, found, text = take(gnnc, source)
    if kind == "gnn":
        return "refused or warned about:\n" + text if status or text else None
    if status != 1 or {d["code"] for d in found} != {code}:
        return "%s expected, exit status %d and:\n%s" % (code, status, text)
    said = [line for d in found for line in ["error[%s]: %s" % (d["code"], d["message"])] +
            ["%s: %s" % (n.get("kind", "help"), n["message"]) for n in d["notes"] + d["fixes"]]]
    missing = [line for line in message.splitlines() if line not in said]
    return "it does not say: %s\nbut:\n%s" % (missing[0], "\n".join(said)) if missing else None


def main():
    gnnc, path = sys.argv[1:]
    text = open(path, encoding="utf-8").read()
    blocks, faults = list(FENCE.finditer(text)), 0
    for m in blocks:
        wrong = fault(gnnc, *m.groups(""))
        if wrong:
            faults += 1
            print("%s:%d: %s" % (path, text.count("\n", 0, m.start()) + 1, wrong))
    if not blocks:
        sys.exit(path + " has no example")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
