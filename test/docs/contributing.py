#!/usr/bin/env python3
"""Runs the lines of CONTRIBUTING.md that begin with gnnc, in a folder with the mean.gnn of README.md, and looks for each file that
is named or linked. Usage: contributing.py ROOT GNNC [TEXT]"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

root, gnnc = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
text = open(sys.argv[3] if sys.argv[3:] else os.path.join(root, "CONTRIBUTING.md"), encoding="utf-8").read()
readme = open(os.path.join(root, "README.md"), encoding="utf-8").read()
faults = ran = 0

with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "mean.gnn"), "w", encoding="utf-8") as f:
        f.write(re.search(r"Write `mean\.gnn`:\n\n```gnn\n(.*?)```", readme, re.S).group(1))
    for line in re.findall(r"^    gnnc (.*)$", text, re.M):
        ran += 1
        done = subprocess.run([gnnc] + shlex.split(line, comments=True), cwd=folder, capture_output=True, text=True)
        if done.returncode:
            faults += 1
            print("exit %d: gnnc %s\n%s" % (done.returncode, line, done.stderr))
paths = re.findall(r"\]\(([\w./-]+)\)|`((?:test|ir|codegen|passes|runtime|driver|lang)/[\w./-]+)`|\b(test/[\w/.-]+)", text)
for path in sorted({name.rstrip(".") for row in paths for name in row if name}):
    if not os.path.exists(os.path.join(root, path)):
        faults += 1
        print("there is no " + path)
print("%d commands, %d faults" % (ran, faults))
sys.exit(1 if faults else 0)
