#!/usr/bin/env python3
"""Compiles each ```c block of a text. Usage: snippets.py TEXT ROOT"""
import re
import subprocess
import sys

blocks = re.findall(r"```c\n(.*?)```", open(sys.argv[1], encoding="utf-8").read(), re.S)
command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I" + sys.argv[2] + "/runtime", "-x", "c", "-"]
faults = sum(subprocess.run(command, input=block, text=True).returncode != 0 for block in blocks)
print("%d blocks, %d faults" % (len(blocks), faults))
sys.exit(1 if faults or not blocks else 0)
