#!/usr/bin/env python3
"""Makes a tree of the tables alone, and of sources that name one of their rows. Usage: bad_places.py ROOT FOLDER"""
import os
import shutil
import sys

root, folder = sys.argv[1:]
for table in ["ir/simt.def", "ir/tensor.def", "ir/math.def", "ir/mma.def", "ir/targets.def", "ir/loop_field.def", "ir/schedule.def", "runtime/gnnrt_io.h"]:
    path = os.path.join(folder, table)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(os.path.join(root, table), path)
for n in range(4):
    with open(os.path.join(folder, "ir", "case%d.c" % n), "w", encoding="utf-8") as f:
        f.write("case SIMT_CLZ: n->fetch.reread; // SIMT_COPYSIGN, fetch.nreread, k->approximate\n")
