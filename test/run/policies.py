#!/usr/bin/env python3
"""Fails unless any policies.WINDOW random ops with consecutive numbers hold each value that policies.py lists. Usage: policies.py FOLDER [LEFT_OUT]

What an op holds is read in its text and its command line, not asked of the policy. LEFT_OUT: as if no case had drawn this value.
"""
import re
import sys

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import policies
import random_ops

LEFT_OUT = sys.argv[2] if len(sys.argv) > 2 else None
FUSED = {"inline": lambda body, results: "ca[ce, cf] =" not in body, "shared": lambda body, results: "cb[cu, cf] =" in body,
         "kept": lambda body, results: "ca: " in results, "staged": lambda body, results: "ca[ce, cf] =" in body and "ca: " not in results and "cb: " not in results}


def message_of(body):
    terms = set(re.findall(r"c[xzw]\[[^\]]*\]?(?:, cf|, cj)?\]", body))
    ends = "".join(n for n, t in (("u", "cx["), ("v", "cz["), ("e", "cw[")) if any(x.startswith(t) for x in terms))
    if "cj" in body:
        return "u_dot_v"
    if len(ends) == 1:
        return "copy_" + ends
    operator = re.search(r"cf\] (?:\* 1\.0 )?([-+*/]) c[xzw]\[", body).group(1)
    return "%s_%s_%s" % (ends[0], {s: n for n, s in policies.OPERATORS.items()}[operator], ends[1])


def held(case):
    text = case.text()[len(random_ops.HELPERS):]
    head, body = text.split("{\n", 1)
    body = "\n".join(l for l in body.splitlines() if re.match(r" *c[abky]\[", l))
    results = head.split("->")[-1] if "ca: " not in head else head[head.index("ca: "):]
    key = re.search(r"softmax\(.*? ((?:by|over) (?:\([^()]*\)|\w+))\)", body)
    return {"reducer": re.search(r"(\w+)\{ce : cd\[ce\] == cv\}", body).group(1), "message": message_of(body),
            "key": {v: k for k, v in policies.KEYS.items()}[key.group(1) if key else None],
            "fusion": next(n for n, holds in FUSED.items() if holds(body, head)), "dtype": re.search(r"cx: (\w+)\[", head).group(1),
            "index": int(next(w for w in case.options if w.startswith("--index="))[8:])}


missing = []
for seed, first in ((1, 0), (1, 17), (7, 1000), (123, 99990)):
    found = [held(random_ops.make(seed, n)) for n in range(first, first + policies.WINDOW)]
    for name, values in policies.POLICIES.items():
        for value in values:
            if str(value) == LEFT_OUT or not any(f[name] == value for f in found):
                missing.append("seed %d, cases %d to %d: no %s %s" % (seed, first, first + policies.WINDOW - 1, name, value))
print("\n".join(missing) or "each value in any %d cases" % policies.WINDOW)
sys.exit(1 if missing else 0)
