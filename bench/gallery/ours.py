"""Calls of gnnc for an op of the gallery and its gradient. NumPy alone."""
import json
import os
import re
import subprocess

import numpy as np

import inputs


def source(name):
    return os.path.join(inputs.FOLDER, name + ".gnn")


def results(name):
    """The names of the float results, in order."""
    with open(source(name)) as f:
        text = re.sub(r"//.*", "", f.read())
    op = text[text.index("op %s<" % name):]
    heads = re.search(r"->\s*\((.*?)\)\s*(?:where|\{)", op, re.S).group(1)
    return re.findall(r"(\w+)\s*:\s*(?:T|f16|f32|f64)\b", heads)


def call(o, verb, case, which, files, *more):
    """(output, fault or None, errors) of a call; which: names of ops."""
    command = [o.gnnc, verb, source(case.name), "--target=" + o.target, *("--op=" + w for w in which)]
    if o.target == "cuda":
        command.append("--arch=" + o.arch)
    command += ["-D%s=%d" % size for size in case.small.items()]
    command += ["--size=%s=%d" % size for size in case.spaces.items()]
    command += ["--param=%s=%s" % (p, f) for p, f in files.items()] + list(more)
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=o.limit)
    except subprocess.TimeoutExpired:
        return "", "more than %g s" % o.limit, ""
    lines = [line for line in p.stderr.splitlines() if "error" in line] or p.stderr.splitlines() or p.stdout.splitlines()
    return p.stdout, (lines[0] if lines else "no output") if p.returncode else None, p.stderr


def computed(o, case, folder, dtype, dy=None):
    """({result: array}, fault): results of the op and, with dy by result, of its gradient, compared with the evaluator besides."""
    more = [("d" + r, a) for r, a in (dy or {}).items()]
    files = case.save_all(folder, dtype, more)
    which = [case.name] + ([case.name + ".grad"] if dy else [])
    out, fault, _ = call(o, "run", case, which, files, "-DT=" + dtype, "--check", "--out=" + folder)
    if fault:
        return {}, fault
    if out.count(" right") != len(which):
        return {}, "not right: " + out.strip().splitlines()[-1]
    made = {}
    for f in os.listdir(folder):
        for head in ("%s_%s." % (case.name, dtype), "%s_grad_%s." % (case.name, dtype)):
            if f.startswith(head) and f.endswith(".npy"):
                made[f[len(head):-4]] = np.load(os.path.join(folder, f))
    return made, None


def seconds_of(report, phases=("parse", "lower", "plan", "generate", "assemble")):
    """What compiling took, of a --time-report."""
    found = re.findall(r"^\s*([0-9.]+) ms  (\w+)", report, re.M)
    return sum(float(ms) for ms, phase in found if phase in phases) / 1e3


def figures_of(row):
    """What is kept of a line of gnnc bench --json."""
    estimate = row.get("estimate", {})
    kernels = [k for k in estimate.get("kernels", []) for _ in range(int(k["launches"]))]
    took = {k["kernel"]: k["median_ms"] for k in row.get("kernels", [])}
    return dict(ms=row["median_ms"], plan=row["plan"], verdict=row["verdict"], must=row["compulsory_bytes"],
                gathered=row["gathered_bytes"], flops=row["flops"], share=row["floor_share"],
                workspace=row["workspace_bytes"], bytes=sum(k["bytes"] for k in kernels), kernels=len(kernels),
                spills=sum(k.get("spill_bytes", 0) for k in estimate.get("kernels", [])),
                names=[(k["kernel"], k["bytes"], k.get("registers", 0), k.get("spill_bytes", 0), took.get(k["kernel"]))
                       for k in estimate.get("kernels", [])])


def timed(o, case, files, dtype):
    """{figures} of the op and its gradient, or {fault}."""
    more = ["-DT=" + dtype, "--json", "--brief", "--flush", "--seconds=%g" % o.seconds, "--check-budget=%d" % o.budget, "--resource-usage",
            "-Wperf", "--time-report", "--accept-overflow", "--kernels"]
    if o.bandwidth:
        more.append("--bandwidth=%g" % o.bandwidth)
    if o.target != "cuda":
        more.append("--device=h200")
    elif o.jobs > 1:
        more.append("--alone=" + o.lock)
    out, fault, report = call(o, "bench", case, [case.name, case.name + ".grad"], files, *more)
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    found = dict(compile_s=seconds_of(report), remarks=sorted(set(re.findall(r"\[([PW]\d{4})\]", report))))
    if len(rows) != 2:
        return {**found, "fault": fault or "no figures"}
    back, forward = (next(r for r in rows if ("_grad_" in r["op"]) == g) for g in (True, False))
    f, b = figures_of(forward), figures_of(back)
    return {**found, "forward": f["ms"], "both": f["ms"] + b["ms"], "passes": [f, b]}


def estimated(o, case, files, dtype):
    """What the plan of the op and its gradient would launch and move on a GPU that need not be here; nothing is run."""
    out, fault, report = call(o, "run", case, [case.name, case.name + ".grad"], files, "-DT=" + dtype, "--resource-usage", "--repeat=0",
                              "--device=" + o.device, "-Wperf", "--time-report")
    found = dict(compile_s=seconds_of(report), remarks=sorted(set(re.findall(r"\[([PW]\d{4})\]", report))))
    parts = out.split(", version '")[1:]
    if fault or len(parts) != 2:
        return {**found, "fault": fault or "no figures"}
    passes = []
    for part in parts:
        rows = re.findall(r"^(\w+) +(\d+) +(\d+) +(\S+) +(\d+) .* +(\d+) +(\d+) +[0-9.]+ +[0-9.]+% +<?([0-9.]+) ", part, re.M)
        must = re.search(r"must move ([0-9.]+) ([kMG]?B)", part)
        names = [(r[0], float(r[7]) * 1e6, int(r[2]), sum(map(int, r[3].split("+")))) for r in rows]
        passes.append(dict(plan=part.split("'")[0], must=float(must.group(1)) * 1e6, bytes=sum(n[1] for n in names),
                           kernels=sum(int(r[5]) for r in rows), spills=sum(n[3] for n in names), names=names))
    return {**found, "passes": passes}
