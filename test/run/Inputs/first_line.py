"""Reads one line of what a command prints while the command goes on, then ends it."""
import subprocess
import sys

process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
print(process.stdout.readline(), end="")
print("goes on" if process.poll() is None else "is over")
process.kill()
