"""status.py N COMMAND...: runs the command, passes its output on and fails unless its exit status is N."""
import subprocess
import sys

status = subprocess.call(sys.argv[2:])
if status != int(sys.argv[1]):
    print("exit status %d" % status)
sys.exit(status != int(sys.argv[1]))
