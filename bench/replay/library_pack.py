#!/usr/bin/env python3
"""Packs of the whole library for gnnc-replay: each op by the naive plan, every version of the default and each of its written schedules.

Usage: library_pack.py GNNC FOLDER [--packs 12] [--graphs hubs:20:70,er:9:40] [--jobs 2]

FOLDER/library-0.pack … share the ops out evenly, so that as many processes can execute them under a slow tool (compute-sanitizer).
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import device_table   # noqa: E402

SIZES = "S=3,F=8,K=8,Q=8,H=4,D=8,J=8,P=5,M=4,rgcn_blocks:B=4"


def schedules_of(path):
    """(file, schedule) of each op of a library file that has any for GPUs."""
    written = os.path.join(ROOT, "test", "stdlib", "schedules", "for_" + os.path.basename(path))
    found = {}
    if os.path.exists(written):
        for op, name in re.findall(r"^schedule (\w+) (\w+)\b(?! for host)", open(written, encoding="utf-8").read(), re.M):
            found.setdefault(op, []).append((written, name))
    return found


def pack(args, job, out):
    path, op, schedule = job
    sizes = device_table.size_options(SIZES.split(","), op)
    command = [args.gnnc, "run", path, "--op", op, "--all-plans", "--check", "--pack=" + out, "--target=cuda", *sizes]
    command += ["-I", os.path.join(ROOT, "stdlib")] + ["--graph=" + g for g in args.graphs.split(",")]
    command += ["--schedule=" + schedule] if schedule else []
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode and "E0820" not in done.stderr:
        return "%s %s: exit %d: %s" % (op, schedule, done.returncode, done.stderr.strip()[-300:])
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gnnc")
    parser.add_argument("folder")
    parser.add_argument("--packs", type=int, default=12)
    parser.add_argument("--graphs", default="hubs:20:70,er:9:40")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    jobs = []
    for path in device_table.library_files():
        written = schedules_of(path)
        for op in device_table.ops_of(args.gnnc, path):
            jobs += [(path, op, None)] + [(file, op, name) for file, name in written.get(op, [])]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        parts = [os.path.join(scratch, str(k)) for k in range(len(jobs))]
        faults = [f for f in pool.map(lambda k: pack(args, jobs[k], parts[k]), range(len(jobs))) if f]
        for n in range(args.packs):
            with open(os.path.join(args.folder, "library-%d.pack" % n), "wb") as out:
                for part in parts[n::args.packs]:
                    if os.path.exists(part):
                        out.write(open(part, "rb").read())
    print("\n".join(faults + ["%d ops and schedules packed, %d faults" % (len(jobs) - len(faults), len(faults))]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
