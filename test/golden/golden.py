#!/usr/bin/env python3
"""Compares the loop, SIMT and plan texts of the library with the hashes in stdlib.txt, or with those of another compiler.

Usage: golden.py GNNC [--write] [--table=FILE] [--against=GNNC] [--keep=FOLDER] [--archs=sm_90a,host] [--files=spmm,segmm] [--jobs=2]

--write makes the table anew. --against asks another compiler instead of the table. --keep leaves the texts in FOLDER (those of the
other compiler in FOLDER/against), for a diff. A line of the table is `arch file/op text hash`.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ARCHS = ["sm_80", "sm_90", "sm_90a", "host"]
TEXTS = ["loop", "simt", "plan"]
SHOWN = 20


def library():
    names = [n[:-4] for n in os.listdir(os.path.join(ROOT, "stdlib")) if n.endswith(".gnn")]
    return sorted(n for n in names if n != "prelude")   # which has no op


def hash_of(path, version):
    """Of what is code: neither the compiler's version nor where the op's file lies is."""
    with open(path, encoding="utf-8") as f:
        text = f.read().replace(version, "VERSION")
    text = re.sub(r'^((?:definition )?op \S+ from )"[^"]*"', r"\1FILE", text, flags=re.M)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def compile_file(gnnc, version, name, arch, folder):
    """The hashes of one file's texts for one architecture, by (arch, file/op, text)."""
    os.makedirs(folder, exist_ok=True)
    target = "--target=host" if arch == "host" else "--arch=" + arch
    command = [gnnc, "stdlib/%s.gnn" % name, "--emit=" + ",".join(TEXTS), target, "-o", folder + "/"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if ran.returncode:
        sys.exit("exit %d: %s\n%s" % (ran.returncode, " ".join(command), ran.stderr))
    hashes = {}
    for file in os.listdir(folder):
        op, text = file.rsplit(".", 1)
        hashes[arch, name + "/" + op, text] = hash_of(os.path.join(folder, file), version)
    return hashes


def hashes_of(gnnc, options, keep):
    gnnc = os.path.abspath(gnnc)
    version = subprocess.run([gnnc, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    hashes, top = {}, tempfile.mkdtemp()

    def one(name, arch):
        folder = os.path.join(keep or top, arch, name)
        shutil.rmtree(folder, ignore_errors=True)
        made = compile_file(gnnc, version, name, arch, folder)
        if not keep:
            shutil.rmtree(folder)
        return made

    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for made in [pool.submit(one, n, a) for a in options.archs for n in options.files]:
                hashes.update(made.result())
    finally:
        shutil.rmtree(top, ignore_errors=True)
    return hashes


def read_table(path, options):
    rows = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            arch, op, text, value = line.split()
            if arch in options.archs and op.split("/")[0] in options.files:
                rows[arch, op, text] = value
    return rows


def write_table(path, hashes):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(sorted("%s %s\n" % (" ".join(key), value) for key, value in hashes.items()))


def tell(title, keys):
    if not keys:
        return
    kinds = collections.Counter(text for _, _, text in keys)
    print("%d %s: %s" % (len(keys), title, ", ".join("%d %s" % (kinds[t], t) for t in TEXTS if kinds[t])))
    for key in sorted(keys)[:SHOWN]:
        print("  " + " ".join(key))
    if len(keys) > SHOWN:
        print("  and %d more" % (len(keys) - SHOWN))


def compare(had, has):
    changed = [k for k in had if k in has and had[k] != has[k]]
    tell("changed", changed)
    tell("missing", [k for k in had if k not in has])
    tell("new", [k for k in has if k not in had])
    return had == has


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--table", default=os.path.join(HERE, "stdlib.txt"))
    parser.add_argument("--against")
    parser.add_argument("--keep")
    parser.add_argument("--archs", type=lambda t: t.split(","), default=ARCHS)
    parser.add_argument("--files", type=lambda t: t.split(","), default=library())
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.write and (options.archs != ARCHS or options.files != library() or options.against):
        parser.error("--write takes the whole library, and no other compiler")
    return options


def main():
    options = read_options()
    has = hashes_of(options.gnnc, options, options.keep)
    if options.write:
        write_table(options.table, has)
    elif options.against:
        keep = options.keep and os.path.join(options.keep, "against")
        if not compare(hashes_of(options.against, options, keep), has):
            return 1
    elif not compare(read_table(options.table, options), has):
        print("Is it meant? `make golden` writes the table anew; the body of the commit must say why the texts change.")
        return 1
    print("%d texts" % len(has))
    return 0


if __name__ == "__main__":
    sys.exit(main())
