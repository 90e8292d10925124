"""crash.py GNNC FOLDER: every signal of a fault ends in status 70 with a reproducer that holds command and source."""
import os
import signal
import subprocess
import sys
import time

gnnc, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
source = os.path.join(folder, "in.simt")
open(source, "w").write("the source\n")


def waits_for_input(pid):
    """Its call of the system is a read, twice."""
    for _ in range(2):
        time.sleep(0.01)
        if not open("/proc/%d/syscall" % pid).read().startswith("0 0x"):
            return False
    return True


for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
    # It has read the first file when it waits for the standard input.
    p = subprocess.Popen([gnnc, "check", source, "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=folder))
    while p.poll() is None and not waits_for_input(p.pid):
        pass
    p.send_signal(number)
    text = p.communicate()[1].decode()
    assert p.returncode == 70, (number, p.returncode, text)
    path = os.path.join(folder, "gnnc-fault-%d.txt" % p.pid)
    assert "internal fault" in text and path in text, text
    saved = open(path).read()
    assert "command: %s check %s" % (gnnc, source) in saved and "in.simt <==\nthe source\n" in saved, saved
    os.remove(path)
