#!/usr/bin/env python3
"""Sectors of global memory that kernels ask for: as the simulator counts them (gnnc run --profile), and as Nsight Compute does.

A sector is 32 bytes that a request of a warp touches, before any cache: --profile's column `sectors`, ncu's l1tex__t_sectors of global loads,
stores, atomics and reductions. What L2 is asked for is printed beside; caches are not simulated, so nothing is compared with it.
Usage: traffic.py [--graph small] [--counted FILE]. Without a GPU, --counted reads what ncu printed elsewhere (--csv --page raw)."""
import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile

import graphs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = (("stdlib/spmm.gnn", "spmm", ("F=32", "T=f32")), ("stdlib/sddmm.gnn", "sddmm", ("F=64", "T=f16")),
           ("stdlib/spmm.gnn", "copy_e_sum", ("F=16", "T=f32")))
SECTORS = ["l1tex__t_sectors_pipe_lsu_mem_global_op_%s.sum" % op for op in ("ld", "st", "atom", "red")]
L2 = "lts__t_sectors_srcunit_tex.sum"
WITHIN = 0.10


def command(o, file, op, defines, target):
    return [o.gnnc, "run", os.path.join(ROOT, file), "-I", os.path.join(ROOT, "stdlib"), "--op=" + op, "--graph=" + o.path,
            "--target=" + target, *(x for d in defines for x in ("-D", d))]


def simulated(o, file, op, defines):
    """{kernel: sectors a launch}; the row `all` sums up those of the source's lines."""
    text = subprocess.run(command(o, file, op, defines, "sim") + ["--profile"], capture_output=True, text=True, check=True).stdout
    found, titles, kernel, launches = {}, [], None, 1
    for line in text.splitlines():
        begin = re.match(r"(\w+): (\d+) launch", line)
        if begin:
            kernel, launches = begin[1], int(begin[2])
        elif line.startswith("line "):
            titles = line.split()
        elif line.startswith("all ") and kernel:
            found[kernel] = int(line.split()[titles.index("sectors")]) / launches
            kernel = None
    return found


def number(text):
    return float(text.replace(",", "")) if text else 0.0


def counted(text):
    """{kernel: (sectors, sectors of L2) a launch} of ncu's CSV, a row a launch or a row a metric."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        sys.exit("ncu counted nothing:\n" + "\n".join(lines[-15:]))
    launches = {}
    for row in csv.DictReader(lines[start:]):
        if not row["ID"]:
            continue   # units
        metrics = launches.setdefault(row["ID"], {"kernel": row["Kernel Name"].split("(")[0]})
        if "Metric Name" in row:
            metrics[row["Metric Name"]] = number(row["Metric Value"])
        else:
            metrics.update({m: number(row.get(m)) for m in (*SECTORS, L2)})
    by_kernel = {}
    for m in launches.values():
        by_kernel.setdefault(m["kernel"], []).append((sum(m.get(s, 0) for s in SECTORS), m.get(L2, 0)))
    return {k: tuple(sum(x) / len(v) for x in zip(*v)) for k, v in by_kernel.items()}


def measured(o, file, op, defines):
    profiler = [o.ncu, "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join((*SECTORS, L2))]
    r = subprocess.run(profiler + command(o, file, op, defines, "cuda"), capture_output=True, text=True)
    return counted(r.stdout + "\n" + r.stderr)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--graph", default="small")
    p.add_argument("--counted", help="ncu's output for all of the ops")
    p.add_argument("--ncu", default="ncu")
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--data")
    p.add_argument("--made", default=os.path.join(tempfile.gettempdir(), "family-graphs"))
    o = p.parse_args()
    o.path = graphs.path_of(o.graph, o.made, o.data)
    far = 0
    print("%-34s %14s %14s %8s %14s" % ("kernel", "simulated", "ncu", "off by", "ncu, L2"))
    for kernel in KERNELS:
        sim = simulated(o, *kernel)
        ncu = counted(open(o.counted).read()) if o.counted else measured(o, *kernel)
        for name, sectors in sim.items():
            if name not in ncu:
                print("%-34s %14.0f %14s" % (name, sectors, "no such kernel"))
                far += 1
                continue
            off = sectors / ncu[name][0] - 1 if ncu[name][0] else float("inf")
            far += abs(off) > WITHIN
            print("%-34s %14.0f %14.0f %7.1f%% %14.0f" % (name, sectors, ncu[name][0], 100 * off, ncu[name][1]), flush=True)
    print("sectors a launch; %s" % ("%d kernels are further off than 10 %%" % far if far else "all within 10 %"))
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
