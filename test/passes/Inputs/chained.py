"""Usage: chained.py GNNC FOLDER/OP.gnn

Plans gradients of chains t' = min(t * a, t - b). Twice the steps may take a few times as long, and no more. Then plans that of OP in two GiB.
Prints how often a plan took more.
"""
import os
import resource
import subprocess
import sys
import tempfile

SHORT, LONG, TIMES, LEAST = 6, 13, 12, 0.05   # steps; how much longer; seconds, of which less is noise
MEMORY = 2 << 30

gnnc, file = sys.argv[1:]


def chain(steps):
    lines = ["op chain<T>(src: E -> N, dst: E -> N sorted, x: T[N, 5]) -> (y: T[N, 5]) {",
             "    l[e, c] = x[src[e], c] * x[dst[e], c];", "    t0[e] = l[e, 0] - l[e, 1];"]
    lines += [f"    t{i + 1}[e] = min(t{i}[e] * l[e, 1], t{i}[e] - l[e, 2]);" for i in range(steps)]
    lines += [f"    y[v, c] = sum{{e : dst[e] == v}} (t{steps}[e] >= 0 ? l[e, c] : t{steps}[e] * l[e, c] - 1);",
              "}", "grad chain wrt (x);"]
    return "\n".join(lines)


def processor_seconds(path, op, limit=0):
    """Of the whole compiler, for the op's gradient; None: it failed."""
    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([gnnc, path, f"--op={op}.grad", "--emit=loop", "-o", os.devnull], preexec_fn=limited, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return None if run.returncode else after.ru_utime - before.ru_utime


with tempfile.TemporaryDirectory() as folder:
    seconds = {}
    for steps in (SHORT, LONG):
        path = os.path.join(folder, f"{steps}.gnn")
        with open(path, "w", encoding="utf-8") as out:
            out.write(chain(steps))
        seconds[steps] = min(processor_seconds(path, "chain") for _ in range(2))
faults = 0
if seconds[LONG] > TIMES * max(seconds[SHORT], LEAST):
    print(f"{LONG} steps take {seconds[LONG]:.2f} s, {SHORT} of them {seconds[SHORT]:.2f} s")
    faults += 1
if processor_seconds(file, os.path.basename(file).removesuffix(".gnn"), MEMORY) is None:
    print(f"{file} fails in {MEMORY >> 20} MiB")
    faults += 1
print(f"{faults} faults")
