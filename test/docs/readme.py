#!/usr/bin/env python3
"""Runs what README.md shows: writes each ```gnn block that a `Write `NAME`` line announces, checks the others, and runs every
indented line that begins with gnnc in an empty folder. Usage: readme.py README.md GNNC"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

readme, gnnc = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2]
assembler = "assembler   none" not in subprocess.run([gnnc, "doctor"], capture_output=True, text=True).stdout
faults = ran = 0


def run(command, folder):
    global faults, ran
    ran += 1
    r = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if r.returncode:
        faults += 1
        print("exit %d: %s\n%s%s" % (r.returncode, " ".join(command), r.stdout[-500:], r.stderr))


with tempfile.TemporaryDirectory() as folder:
    for m in re.finditer(r"(?:Write `([\w.]+)`:\n\n)?```gnn\n(.*?)```", readme, re.S):
        name = m.group(1) or "block.gnn"
        open(os.path.join(folder, name), "w", encoding="utf-8").write(m.group(2))
        run([gnnc, "check", name], folder)
    for line in re.findall(r"^    (gnnc .*)$", readme, re.M):
        words = shlex.split(line, comments=True)
        if ".cubin" in line and not assembler:
            continue
        run([gnnc] + words[1:], folder)
    shown = re.search(r"^    (mean\.gnn:\d+:\d+: error\[E\d+\]: .*)$", readme, re.M)
    wrong = open(os.path.join(folder, "mean.gnn")).read().replace("x[src[e], f]", "x[dst[e], f]")
    open(os.path.join(folder, "mean.gnn"), "w").write(wrong)
    said = subprocess.run([gnnc, "check", "mean.gnn"], cwd=folder, capture_output=True, text=True).stderr
    if not shown or shown.group(1) not in said:
        faults += 1
        print("the README's error is not what gnnc says:\n" + said)
for target in re.findall(r"\]\(([\w./-]+)\)", readme):
    if not os.path.exists(os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), target)):
        faults += 1
        print("a link leads nowhere: " + target)
print("%d commands, %d faults" % (ran, faults))
sys.exit(1 if faults or ran < 7 else 0)
