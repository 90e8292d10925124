#!/usr/bin/env python3
"""Runs what README.md shows: writes each block that a `Write `NAME`` line announces, checks the other ```gnn blocks, and runs every
indented line that begins with gnnc in an empty folder; then the lines that install, build and run the application, whose
output is the comment behind `./app`. Usage: readme.py README.md BUILD [no-application]"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

readme, build = open(sys.argv[1], encoding="utf-8").read(), os.path.abspath(sys.argv[2])
gnnc = os.path.join(build, "bin", "gnnc")
assembler = "assembler   none" not in subprocess.run([gnnc, "doctor"], capture_output=True, text=True).stdout
faults = ran = 0


def run(command, folder):
    global faults, ran
    ran += 1
    r = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if r.returncode:
        faults += 1
        print("exit %d: %s\n%s%s" % (r.returncode, " ".join(command), r.stdout[-500:], r.stderr))


def run_application(folder):
    """From `cmake --install` to `./app`, in one shell, for the sake of export."""
    global faults, ran
    lines = re.search(r"^    cmake --install build (?:.*\n    )*\./app +# (?P<says>.*)$", readme, re.M)
    script = lines.group(0).replace("--install build", "--install " + shlex.quote(build)).replace("install\n", "install > log\n")
    r = subprocess.run(["bash", "-e", "-c", script], cwd=folder, capture_output=True, text=True)
    said = r.stdout.splitlines()[-1:]
    ran += 1
    if r.returncode or said != [lines.group("says")]:
        faults += 1
        print("exit %d, the application says %s:\n%s" % (r.returncode, said, r.stderr))


with tempfile.TemporaryDirectory() as folder:
    for m in re.finditer(r"(?:Write `([\w.]+)`:\n\n)?```(gnn|c)\n(.*?)```", readme, re.S):
        name = m.group(1) or "block." + m.group(2)
        open(os.path.join(folder, name), "w", encoding="utf-8").write(m.group(3))
        if m.group(2) == "gnn":
            run([gnnc, "check", name], folder)
    for line in re.findall(r"^    (gnnc .*)$", readme, re.M):
        words = shlex.split(line, comments=True)
        if ".cubin" in line and not assembler:
            continue
        run([gnnc] + words[1:], folder)
    if sys.argv[3:] != ["no-application"]:
        run_application(folder)
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
