#!/usr/bin/env python3
"""Each pass that --list-passes names has an op here that it changes, or, for a check, an op that it refuses. Usage: each_pass.py GNNC TEST-FOLDER

A pass that does nothing to its op says `unchanged`, and then this fails; so does one that has no row, and a row that has no pass.
"""
import os
import re
import subprocess
import sys

# pass: a file of test/, and options
ROWS = {
    "normalise": "passes/classes.gnn --op=within",
    "empty": "passes/else_nothing.gnn --op=sums -D T=f32",
    "symmetric": "passes/symmetric.gnn --op=outward -D T=f32 -D F=8",
    "symmetric_inlined": "passes/symmetric.gnn --op=norm.grad -D T=f32 -D F=8",
    "rfactor": "passes/rfactor.gnn --op=shared --schedule=rows -D H=4 -D T=f32",
    "addends": "passes/hoist.gnn --op=points --schedule=rows -D F=10 -D K=9",
    "scalarize": "passes/scalarize.gnn --op=chain --schedule=numbers",
    "flatten": "passes/flatten.gnn --op=points --schedule=matrices",
    "hoist": "passes/hoist.gnn --op=points --schedule=rows -D F=10 -D K=9",
    "terms": "passes/terms.gnn --op=scores --schedule=shared -D H=4 -D D=8 -D T=f32",
    "matrix_counts": "passes/Inputs/mean_products.gnn",
    "types": "passes/compute.gnn --op=scaled -D T=f16",
    "classes": "passes/classes.gnn --op=within",
    "counts": "passes/counts.gnn --op=means -D T=f32",
    "rewrite": "passes/inlined.gnn --op=cheap",
    "siblings": "passes/siblings.gnn --op=moments -D T=f32 -D F=32",
    "outside": "passes/window_scaled.gnn --op=tiny",
    "recompute": "passes/default_rfactor.gnn --op=att.grad -D T=f32 -D H=4 -D D=16",
    "online": "passes/online.gnn --op=soft --schedule=rows -D H=2 -D D=4 -D T=f32",
    "loops": "passes/loops.gnn --op=two -D T=f32",
    "plan": "passes/classes.gnn --op=within",
    "idle": "passes/Inputs/count_alone.gnn",
    "composed": "passes/completed_long.gnn --op=twice",
    "row_begins": "passes/row_begins.gnn --op=spmm --schedule=longest -D F=16",
    "pads": "passes/pad.gnn --op=hidden --schedule=padded -D T=f32",
    "approximate": "schedule/approximate.gnn --op=soft --schedule=near -D T=f16 -D F=32",
    "overlap": "passes/overlap.gnn --op=sums --schedule=rows -D T=f32",
    "guard_packed": "passes/inlined_size.gnn --op=twice -D T=f32 -D F=64",
    "guard_beside": "passes/default_walked.gnn --op=att -D T=f16 -D H=4 -D D=16",
    "guard_specialized": "passes/inlined.gnn --op=cheap",
    "guard_narrow": "passes/classes.gnn --op=within",
    "unused": "passes/Inputs/unheard.gnn",
    "lower": "passes/classes.gnn --op=within",
    "naive": "passes/classes.gnn --op=within",
}


def changes(gnnc, folder, name, row):
    path, *options = row.split()
    done = subprocess.run([gnnc, os.path.join(folder, path), "--emit=simt", "-o", os.devnull, "--print-after=" + name, "--verify",
                           "-Wno-unused-option", *options], capture_output=True, text=True)
    if name == "unused":
        return done.returncode == 1 and "error[E0540]" in done.stderr, done.stderr
    return done.returncode == 0 and re.search(r"^// \S+ after %s$" % name, done.stderr, re.M) is not None, done.stderr


def main():
    gnnc, folder = sys.argv[1:]
    listed = [line.split()[0] for line in subprocess.run([gnnc, "--list-passes"], capture_output=True, text=True).stdout.splitlines()]
    faults = ["pass %s has no row" % n for n in listed if n not in ROWS] + ["row %s is of no pass" % n for n in ROWS if n not in listed]
    for name in (n for n in listed if n in ROWS):
        good, told = changes(gnnc, folder, name, ROWS[name])
        if not good:
            faults.append("%s does nothing to %s\n%s" % (name, ROWS[name], told[:600]))
    print("\n".join(faults + ["%d passes, %d faults" % (len(listed), len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
