"""Runs the schedules of a file that keep inputs in registers, each checked against its definition and, bit by bit, against its
twin, which does not: `NAME` and `NAME_plain`. Rows are empty, of 1, 31, 32, 33 and 100 edges. Prints what failed."""
import filecmp
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys

gnnc, file, folder = sys.argv[1:]
degrees = [0, 1, 31, 32, 33, 0, 100, 2, 5, 64, 1, 0, 3, 7, 8, 9, 0]
graph = os.path.join(folder, "graph.txt")
with open(graph, "w") as out:
    for v, d in enumerate(degrees):
        for e in range(d):
            print(e * 7 % 23, v, file=out)
twins = [(o, s) for o, s in re.findall(r"^schedule (\w+) (\w+)", open(file).read(), re.M) if not s.endswith("_plain")]
sizes = ["-DF=40", "-DH=2", "-DD=16", "-DR=5", "-DK=70", "-DN=30", "-Wno-unused-option"]
runs = 0


def run(op, schedule, extra):
    global runs
    out = os.path.join(folder, schedule)
    shutil.rmtree(out, ignore_errors=True)
    command = [gnnc, "run", file, "--op=" + op, "--schedule=" + schedule, "--target=sim", "--graph=" + graph, "--check", "--out=" + out] + sizes + extra
    done = subprocess.run(command, capture_output=True, text=True)
    runs += 1
    if done.returncode or not re.search(r" %s( |$).* right" % schedule, done.stdout):
        print("failed: " + " ".join(command) + "\n" + done.stdout + done.stderr)
    return {os.path.basename(x): x for x in glob.glob(out + "/*.npy")}


variants = [["-DT=f32"], ["-DT=f16", "--index=64", "--sim-order=forward"], ["-DT=f64", "--sim-order=reverse"],
            ["-DT=bf16", "--sim-seed=3", "--values=special"], ["-DT=f32", "--layout=strided", "--edges=mixed"]]
for i, (op, schedule) in enumerate(twins):
    for extra in variants if schedule == "rows" else [variants[0], variants[1 + i % 4]]:
        kept, plain = run(op, schedule, extra), run(op, schedule + "_plain", extra)
        same = kept.keys() == plain.keys() and all(filecmp.cmp(kept[k], plain[k], shallow=False) for k in kept)
        if not kept or not same:
            print("other bits: " + " ".join([op, schedule] + extra))
print("%d runs of %d schedules" % (runs, len(twins)))
