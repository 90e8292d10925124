#!/usr/bin/env python3
"""Every option of driver/options.def, and every diagnostic of ir/support/diag.def must be named by a test.
Every statement of ir/schedule.def is executed by a file, but for those about statements, and has a test file of its name;
every old name there has a test that is told the new one."""
import glob
import os
import re
import sys


def tests(root):
    for folder, _, files in os.walk(os.path.join(root, "test")):
        for name in files:
            if name.endswith((".gnn", ".tensor", ".loop", ".simt", ".test", ".c", ".py")) and name not in ("coverage.py", "lit.cfg.py", "expect.py"):
                yield open(os.path.join(folder, name), errors="replace").read()


def read(root, path):
    text = open(os.path.join(root, path)).read()
    return "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("//"))


def main():
    root = sys.argv[1]
    text = "\n".join(tests(root))
    missing = []
    for name, short in re.findall(r'^OPTION\(\w+, "([\w-]*)", "(\w*)"', read(root, "driver/options.def"), re.M):
        forms = ["--(?:no-)?" + name + r"(?![\w-])"] if name else []
        forms += ["(?<![\\w-])-" + short + ("" if len(short) == 1 and short.isupper() else r"(?![\w-])")] if short else []
        if not re.search("|".join(forms), text):
            missing.append("option --%s" % name if name else "option -%s" % short)
    for verb in re.findall(r"^VERB\(\w+,\s*(\w+)", read(root, "driver/options.def"), re.M):
        if not re.search(r"%%gnnc %s\b" % verb, text):
            missing.append("verb " + verb)
    for code in re.findall(r"^DIAG\((\w+)", read(root, "ir/support/diag.def"), re.M):
        if not re.search(r"\b%s\b" % code, text):
            missing.append("diagnostic " + code)
    meta = {"tune", "let", "none", "like"}   # about statements: the checker reads them
    for old, now in re.findall(r'^RENAMED\("\w*", "(\w+)", "(\w+)"\)', read(root, "ir/schedule.def"), re.M):
        if not re.search(r"'%s'; and: it is called '%s'" % (old, now), text):
            missing.append("that '%s' is called '%s'" % (old, now))
    for verb, executed in re.findall(r'^STATEMENT\(\w+, "(\w+)", (?:"[^"]*", ){3}"([\w/]*)"', read(root, "ir/schedule.def"), re.M):
        if bool(executed) == (verb in meta):
            missing.append("statement %s: %s" % (verb, "what is about statements has no file" if executed else "no file executes it"))
        if executed and not any(glob.glob(os.path.join(root, "test", folder, verb + ".*")) for folder in ("schedule", "passes")):
            missing.append("statement " + verb)
        if executed and not any(os.path.exists(os.path.join(root, folder, executed + ".c")) for folder in ("passes", "")):
            missing.append("%s.c, which executes '%s': there is no such file" % (executed, verb))
    for thing in missing:
        print("no test names " + thing)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
