"""Whether compiling ops takes no more work than a table says, counted by the program itself, so that it is the same on all machines.

work.py GNNC STDLIB TABLE
"""
import re
import subprocess
import sys

KINDS = ("instructions", "kernels", "versions", "megabytes")


def counted(gnnc, source, op):
    command = [gnnc, source, "--op=" + op, "-DT=f32", "--arch=sm_90a", "--emit=ptx", "--time-report", "-o", "-"]
    report = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    numbers = re.search(r"(\d+) instructions in (\d+) kernels of (\d+) versions", report).groups()
    return dict(zip(KINDS, (*map(int, numbers), float(re.search(r"([0-9.]+) MB of IRs", report)[1]))))


def main():
    gnnc, stdlib, table = sys.argv[1:]
    faults = checked = 0
    for line in open(table):
        words = line.split("#")[0].split()
        if not words:
            continue
        has, most = counted(gnnc, "%s/%s.gnn" % (stdlib, words[0]), words[1]), dict(zip(KINDS, map(float, words[2:])))
        for kind in KINDS:
            checked += 1
            if has[kind] > most[kind] or has[kind] < 0.8 * most[kind]:
                faults += 1
                print("%s: %g %s, and the table says %g: change it where that is meant" % (words[1], has[kind], kind, most[kind]))
    print("%d numbers, %d faults" % (checked, faults))


main()
