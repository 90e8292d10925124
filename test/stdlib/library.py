#!/usr/bin/env python3
"""Checks that hold for every op of the library.

  library.py GNNC roundtrip          tensor and simt text read back to themselves
  library.py GNNC ptx [--dtypes f32,f16] [--archs sm_80,…]   PTX that ptxas takes without a warning or a spill
  library.py GNNC renamed            a renamed copy of an op gives the same PTX but for the name
  library.py GNNC time [--default]   compile times of each op, to PTX and to a cubin: of the naive plan, or of all versions of the default
  library.py GNNC count              lines of PTX, kernels and versions of each op by the default schedules
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "stdlib")
ARCHS = ["sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"]


def ops():
    """(file, op) of each op that needs no function or reducer to be named."""
    for name in sorted(os.listdir(LIBRARY)):
        if not name.endswith(".gnn"):
            continue
        path = os.path.join(LIBRARY, name)
        text = re.sub(r"//.*", "", open(path, encoding="utf-8").read())
        for m in re.finditer(r"\bop\s+(\w+)\s*(<[^>]*>)?\s*([(=])", text):
            if m.group(3) == "=" or not re.search(r":\s*(fn|reducer)\b", m.group(2) or ""):
                yield path, m.group(1)


def run(command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace")


def compile_op(gnnc, path, op, form, out, *more, plan=("--no-schedule",)):
    r = run([gnnc, *plan, "--op", op, "-D", "S=3", "--emit=" + form, "-o", out, path, *more])
    return "" if r.returncode == 0 else "%s %s: exit %d: %s" % (op, form, r.returncode, r.stderr.strip())


def same_again(gnnc, path, op, form, folder):
    first, second = os.path.join(folder, op + ".1." + form), os.path.join(folder, op + ".2." + form)
    fault = compile_op(gnnc, path, op, form, first)
    if fault:
        return fault
    r = run([gnnc, "--emit=" + form, "-o", second, first])
    if r.returncode:
        return "%s: its %s text is not read back: %s" % (op, form, r.stderr.strip())
    return "" if open(first).read() == open(second).read() else "%s: its %s text reads back differently" % (op, form)


def roundtrip(gnnc, folder, args):
    jobs = [(path, op, form) for path, op in ops() for form in ("tensor", "simt")]
    return len(jobs), each(jobs, lambda j: same_again(gnnc, j[0], j[1], j[2], folder))


def assembles(ptxas, gnnc, path, op, dtype, arch, folder):
    ptx = os.path.join(folder, "%s.%s.%s.ptx" % (op, dtype, arch))
    fault = compile_op(gnnc, path, op, "ptx", ptx, "--arch=" + arch, "-D", "T=" + dtype)
    if fault:
        return fault
    r = run([ptxas, "-v", "-arch=" + arch, ptx, "-o", ptx + ".cubin"])
    said = r.stdout + r.stderr
    if r.returncode or re.search(r"warning|error", said, re.I):
        return "%s %s %s: ptxas: %s" % (op, dtype, arch, said.strip()[:400])
    spilled = re.search(r"[1-9]\d* bytes spill", said)
    return "%s %s %s: %s" % (op, dtype, arch, spilled.group(0)) if spilled else ""


def ptx(gnnc, folder, args):
    ptxas = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
    if not os.path.exists(ptxas):
        print("no ptxas here: the PTX is made and not assembled")
        ptxas = "true"
    jobs = [(path, op, t, a) for path, op in ops() for t in args.dtypes.split(",") for a in args.archs.split(",")]
    return len(jobs), each(jobs, lambda j: assembles(ptxas, gnnc, j[0], j[1], j[2], j[3], folder))


def renamed_copy(gnnc, path, op, folder):
    text = open(path, encoding="utf-8").read()
    copy = os.path.join(folder, os.path.basename(path))
    open(copy, "w", encoding="utf-8").write(re.sub(r"\b%s\b" % op, "nobody_knows_me", text))
    a, b = os.path.join(folder, op + ".a"), os.path.join(folder, op + ".b")
    fault = compile_op(gnnc, path, op, "ptx", a, "--no-lineinfo") or compile_op(gnnc, copy, "nobody_knows_me", "ptx", b, "--no-lineinfo")
    if fault:
        return fault
    first, second = (re.sub(r"\A// gnnc: .*\n", "", open(x).read()) for x in (a, b))   # the first line names the op and its plan
    return "" if first.replace(op + "_f32", "X") == second.replace("nobody_knows_me_f32", "X") else "%s: a copy under another name gives other PTX" % op


def renamed(gnnc, folder, args):
    jobs = []
    for path, op in ops():
        text = open(path, encoding="utf-8").read()
        if re.search(r"\bop\s+%s\s*<[^>]*>\s*\(" % op, text):   # an alias's PTX is its target's
            sub = os.path.join(folder, op)
            os.mkdir(sub)
            jobs.append((path, op, sub))
    return len(jobs), each(jobs, lambda j: renamed_copy(gnnc, *j))


# The yardstick of a machine's speed: what nvcc takes for the smallest SpMM.
SMALLEST_SPMM = """
extern "C" __global__ void spmm(const int *offsets, const int *src, const float *x, float *y, int F) {
    for (int f = threadIdx.x; f < F; f += blockDim.x) {
        float sum = 0;
        for (int e = offsets[blockIdx.x]; e < offsets[blockIdx.x + 1]; e++) sum += x[(long)src[e] * F + f];
        y[(long)blockIdx.x * F + f] = sum;
    }
}
"""


def milliseconds(work):
    begin = time.perf_counter()
    fault = work()
    if fault:
        sys.exit(fault)
    return (time.perf_counter() - begin) * 1e3


def nvcc(folder):
    source = os.path.join(folder, "spmm.cu")
    open(source, "w").write(SMALLEST_SPMM)
    r = run(["nvcc", "-arch=sm_90", "-cubin", "-o", source + "bin", source])
    return r.stderr if r.returncode else ""


# Rounds over all ops, so that what slows the machine for a while slows one sample of each.
def report_times(gnnc, folder, args):
    plan = () if args.default else ("--no-schedule",)
    rows = {op: {"ptx": [], "cubin": []} for _, op in ops()}
    yardstick = []
    for _ in range(args.repeats):
        for k, (path, op) in enumerate(ops()):
            if k % 40 == 0 and shutil.which("nvcc"):
                yardstick.append(milliseconds(lambda: nvcc(folder)))
            for form, times in rows[op].items():
                times.append(milliseconds(lambda: compile_op(gnnc, path, op, form, os.path.join(folder, "timed"), plan=plan)))
    print("%-30s %8s %8s   ms, median of %d whole processes" % ("op", "ptx", "cubin", args.repeats))
    for op, forms in rows.items():
        print("%-30s %8.1f %8.1f" % (op, statistics.median(forms["ptx"]), statistics.median(forms["cubin"])))
    scale = 250 / statistics.median(yardstick) if yardstick else 1
    if yardstick:
        print("nvcc, smallest SpMM to a cubin: median %.0f ms; `scaled`: as if that were 250" % statistics.median(yardstick))
    for form, limit in (("ptx", 20), ("cubin", 50)):
        v = sorted((statistics.median(forms[form]), op) for op, forms in rows.items())
        print("%s: median %.1f, largest %.1f ms (%s); scaled: median %.1f, largest %.1f; %d of %d within %d ms" % (
            form, statistics.median(x for x, _ in v), *v[-1], scale * statistics.median(x for x, _ in v), scale * v[-1][0],
            sum(scale * x <= limit for x, _ in v), len(v), limit))
    return len(rows), []


def counts_of(gnnc, path, op, folder):
    """[lines of PTX, kernels, versions], or what went wrong."""
    ptx = os.path.join(folder, op + ".ptx")
    r = run([gnnc, "--op", op, "-D", "S=3", "--no-lineinfo", "--emit=ptx", "-o", ptx, path])
    plan = run([gnnc, "--op", op, "-D", "S=3", "--emit=plan", "-o", "-", path])
    if r.returncode or plan.returncode:
        return "%s: %s" % (op, (r.stderr + plan.stderr).strip())
    text = open(ptx).read()
    return [text.count("\n"), text.count(".entry "), len(re.findall(r"^version ", plan.stdout, re.M))]


def count(gnnc, folder, args):
    found = list(ops())
    rows = each(found, lambda j: [(j[1], counts_of(gnnc, *j, folder))])
    rows = [row for one in rows for row in one]
    good = sorted(((c, op) for op, c in rows if not isinstance(c, str)), reverse=True)
    print("%-30s %8s %8s %8s   the ten largest" % ("op", "lines", "kernels", "versions"))
    for c, op in good[:10]:
        print("%-30s %8d %8d %8d" % (op, *c))
    if good:
        print("median %g lines; all: %d lines, %d kernels, %d versions" % (
            statistics.median(c[0] for c, _ in good), *(sum(c[i] for c, _ in good) for i in range(3))))
    return len(found), [c for _, c in rows if isinstance(c, str)]


def each(jobs, work):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return [f for f in pool.map(work, jobs) if f]


def main():
    checks = {"roundtrip": roundtrip, "ptx": ptx, "renamed": renamed, "time": report_times, "count": count}
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("check", choices=checks)
    p.add_argument("--dtypes", default="f32")
    p.add_argument("--archs", default=",".join(ARCHS))
    p.add_argument("--repeats", type=int, default=5)
    p.add_argument("--default", action="store_true")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done, faults = checks[args.check](args.gnnc, folder, args)
    for f in faults:
        print(f)
    print("%s: %d checked, %d wrong" % (args.check, done, len(faults)))
    sys.exit(1 if faults or not done else 0)


main()
