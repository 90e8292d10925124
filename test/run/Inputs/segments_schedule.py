"""Prints the ops of bench/segments and the schedule s that segments.py has for one: FOLDER OP TYPE K Q [ROWS]."""
import os
import sys

folder, op, dtype, K, Q = sys.argv[1:6]
sys.path.insert(0, folder)
import segments

print(open(os.path.join(folder, "segments.gnn")).read())
print("schedule %s s { %s }" % (op, segments.schedule(op, dtype, int(K), int(Q), int(sys.argv[6]) if len(sys.argv) > 6 else 1000000)))
