"""Runs a command whose stderr is a terminal, and prints what it wrote there, a line for each time the cursor went back.
Usage: terminal.py COMMAND..."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stderr=theirs)
os.close(theirs)
text = b""
try:
    while part := os.read(ours, 4096):
        text += part
except OSError:   # the other end is closed
    pass
print(text.decode().replace("\r", "\n"))
sys.exit(child.wait())
