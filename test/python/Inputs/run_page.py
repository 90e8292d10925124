#!/usr/bin/env python3
"""Runs the ```python blocks of a page one after another, and looks at what they leave. Usage: run_page.py PAGE"""
import re
import sys

import torch

page = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)
names = {"__name__": "page"}
for block in blocks:
    exec(compile(block, sys.argv[1], "exec"), names)
losses = names["losses"]
assert len(blocks) == 5 and losses[-1] < losses[0] / 10, (len(blocks), losses[0], losses[-1])
row, few = names["exact"].fading(names["few"], *[a.detach() for a in names["arrays"]]), names["few"]
assert torch.equal(row[3], torch.zeros(2, 3, dtype=torch.float64))
print("%d blocks" % len(blocks))
