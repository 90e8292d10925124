"""Checks lang/schedules.md: its examples by the compiler, its forms against schedule.def. Usage: manual.py GNNC ROOT FOLDER"""
import os
import re
import subprocess
import sys


def since(feature, targets):
    """The first architecture that has a feature; what is no feature, as it is."""
    having = set()
    for family, of, has in re.findall(r"^FAMILY\((\w+), *(\w+), *(.*?)\)$", targets, re.M | re.S):
        if of in having or "HAS(%s)" % feature.upper().replace("-", "_") in has:
            having.add(family)
    return next((name for name, family in re.findall(r'^ARCH\("(\w+)", *(\w+)', targets, re.M) if family in having), feature)


def main():
    gnnc, root, folder = sys.argv[1:]
    manual = open(os.path.join(root, "lang/schedules.md")).read()
    table = open(os.path.join(root, "ir/schedule.def")).read()
    targets = open(os.path.join(root, "ir/targets.def")).read()
    examples = re.findall(r"```gnn\n(.*?)```", manual, re.S)
    faults = []
    for i, text in enumerate(examples):
        path = os.path.join(folder, "example%d.gnn" % i)
        open(path, "w").write(text)
        done = subprocess.run([gnnc, "check", "-Werror", path], capture_output=True, text=True, timeout=120)
        if done.returncode or done.stderr:
            faults.append(done.stderr)
    code = "\n".join(re.sub(r"//.*", "", text) for text in examples)
    rows = re.findall(r'^STATEMENT\(\w+, "(\w+)", "([^"]*)", "([^"]*)", "([^"]*)"', table, re.M)
    columns = {m[0].split()[0]: m for m in re.findall(r"^\| `([^`]*)` \| .* \| ([\w, ]*) ?\| (\w*) ?\|$", manual, re.M)}
    for verb, form, excludes, needs in rows:
        others = set(excludes.split()) | {r[0] for r in rows if verb in r[2].split()}
        _, named, needed = columns.get(verb, ("", "", ""))
        if set(re.findall(r"\w+", named)) != others or needed != since(needs, targets):
            faults.append("the manual's row of '%s' does not say what it excludes or needs: %s; %s" % (verb, sorted(others), needs))
        written = "%s %s" % (verb, form.replace("CHOICES", "NAME = CHOICES")) if form else verb
        if "`%s`" % written not in manual:
            faults.append("the manual does not say `%s`" % written)
        if not re.search(r"\b%s\b" % verb, code):
            faults.append("no example of the manual uses '%s'" % verb)
    for kind in re.findall(r"^KIND\((\w+),\s+(?:ONE|LIST|CHOICE)", table, re.M):
        if "`%s`" % kind not in manual:
            faults.append("the manual does not explain %s" % kind)
    for word in re.findall(r'^WORD\(\w+, "(\w+)"', table, re.M):
        if not re.search(r"`%s`" % word, manual):
            faults.append("the manual does not name `%s`" % word)
    for text in faults:
        print(text)
    return 1 if faults or not examples else 0


sys.exit(main())
