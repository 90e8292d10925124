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
pipe = os.path.join(folder, "pipe.simt")
if not os.path.exists(pipe):
    os.mkfifo(pipe)
for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
    # It has read the first file once the second one, the pipe, has a reader.
    p = subprocess.Popen([gnnc, "check", source, pipe], stderr=subprocess.PIPE, env=dict(os.environ, TMPDIR=folder))
    with open(pipe, "w"):
        time.sleep(0.1)
        p.send_signal(number)
        text = p.communicate()[1].decode()
    assert p.returncode == 70, (number, p.returncode, text)
    path = os.path.join(folder, "gnnc-fault-%d.txt" % p.pid)
    assert "internal fault" in text and path in text, text
    saved = open(path).read()
    assert "command: %s check %s" % (gnnc, source) in saved and "in.simt <==\nthe source\n" in saved, saved
    os.remove(path)
