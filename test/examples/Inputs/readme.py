#!/usr/bin/env python3
"""Runs the indented commands of an example's README in PLACE, which holds the examples, a folder `build` and an installation in
`install`; then the commands given, each behind the exit statuses it may have. Lines that make a cubin are left out where
there is no assembler. Usage: readme.py PLACE README [STATUS|STATUS:COMMAND]..."""
import os
import re
import subprocess
import sys

place, readme, more = sys.argv[1], sys.argv[2], sys.argv[3:]
text = open(os.path.join(place, readme), encoding="utf-8").read()
commands = [("0", line) for line in re.findall(r"^    (\S.*)$", text, re.M)]
commands += [tuple(line.split(":", 1)) for line in more]
doctor = subprocess.run(["install/bin/gnnc", "doctor"], cwd=place, stdout=subprocess.PIPE, text=True).stdout
assembler = "assembler   none" not in doctor
if not commands:
    sys.exit("no commands in " + readme)
for wanted, line in commands:
    if not assembler and ".cubin" in line:
        continue
    r = subprocess.run(["bash", "-c", line], cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print("$ %s\n%s" % (line, r.stdout), end="")
    if str(r.returncode) not in wanted.split("|"):
        sys.exit("exit status %d, not %s" % (r.returncode, wanted))
