"""Runs a command that takes turns by a file: it has to wait as long as the file is held here. Usage: alone.py FILE COMMAND..."""
import fcntl
import subprocess
import sys

with open(sys.argv[1], "a") as f:
    fcntl.flock(f, fcntl.LOCK_EX)
    child = subprocess.Popen(sys.argv[2:])
    try:
        child.wait(2)
        print("did not wait", flush=True)
    except subprocess.TimeoutExpired:
        print("waits while another has the file", flush=True)
    fcntl.flock(f, fcntl.LOCK_UN)
sys.exit(child.wait())
