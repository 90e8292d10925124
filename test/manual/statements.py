#!/usr/bin/env python3
"""Checks the sections of lang/statements.md. Usage: statements.py GNNC ROOT

Each statement of ir/schedule.def that a pass executes has a section, `## `verb``: its form, then a source, then the loop IR that
schedules of it give, as blocks fenced as ```loop NAME, or ```loop OP NAME of another op than the first schedule's. Their lines stand in what --emit=loop prints, in that order, `…` for
any text; and each schedule computes what it should on a simulated GPU.
"""
import os
import re
import subprocess
import sys
import tempfile

SECTION = re.compile(r"^## `(\w+)`\n(.*?)(?=^## |\Z)", re.M | re.S)
SOURCE = re.compile(r"^```gnn\n(.*?)^```$", re.M | re.S)
LOOPS = re.compile(r"^```loop (?:(\w+) )?(\w+)\n(.*?)^```$", re.M | re.S)
SIZES = ["-D", "F=64"]


def statements(root):
    table = open(os.path.join(root, "ir/schedule.def")).read()
    rows = re.findall(r'^STATEMENT\(\w+, "(\w+)", "([^"]*)", "[^"]*", "[^"]*", "([^"]*)"', table, re.M)
    return {verb: form for verb, form, executed in rows if executed}


def run(gnnc, arguments):
    done = subprocess.run([gnnc] + arguments, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def missing_line(text, lines):
    at = 0
    for line in lines:
        pattern = re.escape(line.strip()).replace("…", ".*")
        found = re.compile(r"^\s*" + pattern + r"\s*$", re.M).search(text, at)
        if not found:
            return line
        at = found.end()
    return None


def faults_of_schedule(gnnc, path, op, name, lines):
    chosen = SIZES + ["--op=" + op, "--schedule=" + name, path]
    status, text, errors = run(gnnc, ["--emit=loop", "-o", "-"] + chosen)
    if status:
        return ["%s: refused:\n%s" % (name, errors)]
    line = missing_line(text, lines)
    faults = ["%s: no such line in the loop IR, or not there: %s" % (name, line)] if line else []
    status, table, errors = run(gnnc, ["run", "--target=sim", "--graph=er:32:100", "--check", "--plan=" + name] + chosen)
    if status or " right" not in table:
        faults.append("%s: computes something else:\n%s%s" % (name, table, errors))
    return faults


def faults_of_section(gnnc, verb, form, text):
    source, loops = SOURCE.search(text), LOOPS.findall(text)
    whole = ("%s %s" % (verb, form)).rstrip()
    if "    %s\n" % whole not in text:
        return ["its form is not '%s'" % whole]
    if not source or not loops:
        return ["it has no source, or no loop IR"]
    if not re.search(r"\b%s\b" % verb, source.group(1)):
        return ["its source does not say '%s'" % verb]
    op = re.search(r"^schedule (\w+)", source.group(1), re.M).group(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "example.gnn")
        open(path, "w").write(source.group(1))
        return [f for other, name, body in loops for f in faults_of_schedule(gnnc, path, other or op, name, body.splitlines())]


def main():
    gnnc, root = sys.argv[1:]
    sections = dict(SECTION.findall(open(os.path.join(root, "lang/statements.md"), encoding="utf-8").read()))
    table, faults = statements(root), []
    for verb in sorted(set(table) | set(sections)):
        if verb not in table or verb not in sections:
            found = ["no section"] if verb in table else ["no pass executes it"]
        else:
            found = faults_of_section(gnnc, verb, table[verb], sections[verb])
        faults += ["%s: %s" % (verb, f) for f in found]
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
