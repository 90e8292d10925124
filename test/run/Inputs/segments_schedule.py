"""Prints the ops of bench/segments and the schedule s that segments.py has for one: FOLDER OP TYPE K Q, for 1,000,000 rows of 1,000 types."""
import os
import sys

folder, op, dtype, K, Q = sys.argv[1:]
sys.path.insert(0, folder)
import segments

print(open(os.path.join(folder, "segments.gnn")).read())
print("schedule %s s { %s }" % (op, segments.schedule(op, dtype, int(K), int(Q), 1000000, 1000)))
