#!/usr/bin/env python3
"""Which lines of gnnc's C the tests have run, by folder, from a build with -DGNNC_COVERAGE=ON.

Usage: coverage.py ROOT BUILD [--files=N] [--lines=FILE] [--least=PERCENT] [--least-untrusted=PERCENT]

--files lists the N files with most lines that nothing ran, --lines those lines of one file. With --least it fails where a
folder is below. What reads untrusted bytes or texts, or judges what is read, is a row of its own: --least-untrusted.
Lines of ICE(...), which nothing should reach, are not counted.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

FOLDERS = ["lang", "frontend", "ir", "autodiff", "passes", "codegen", "runtime", "testing", "driver"]
OBJECTS = re.compile(r"CMakeFiles/(gnnc_\w+|gnnrt\w*|gnnc)\.dir/")
UNTRUSTED = re.compile(r"runtime/(read_|npy|json|inflate|manifest|size_expr|validate|check)|ir/\w+_(parse|verify|lex)|ir/size"
                       r"|frontend/parse|lang/|codegen/ptx_head|driver/(options|response)")
NEVER = re.compile(r"\bICE\(")
AT_ONCE = 40   # notes that one gcov reads


def notes(build):
    for place, _, names in os.walk(build):
        for name in names:
            path = os.path.join(place, name)
            if name.endswith(".gcno") and OBJECTS.search(os.path.relpath(path, build)):
                yield os.path.abspath(path)


def counts_of(paths):
    """What gcov says of some notes, as its files of JSON; a source that nothing ran counts 0 everywhere."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["gcov", "--json-format", "--hash-filenames"] + paths, cwd=folder, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in os.listdir(folder):
            with gzip.open(os.path.join(folder, name), "rt", encoding="utf-8") as f:
                told = json.load(f)
            for file in told["files"]:
                where = os.path.join(told["current_working_directory"], file["file"])
                yield os.path.realpath(where), [(line["line_number"], line["count"]) for line in file["lines"]]


def read(root, build):
    """By source, relative to the root: the most that each of its lines ran."""
    found, all_notes, root = collections.defaultdict(dict), sorted(notes(build)), os.path.realpath(root)
    parts = [all_notes[i:i + AT_ONCE] for i in range(0, len(all_notes), AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for part in pool.map(lambda p: list(counts_of(p)), parts):
            for path, lines in part:
                source = os.path.relpath(path, root)
                if source.split(os.sep)[0] not in FOLDERS or not os.path.exists(path):   # gone since it was compiled
                    continue
                for number, count in lines:
                    found[source][number] = max(found[source].get(number, 0), count)
    return {source: without_never(root, source, lines) for source, lines in found.items()}


def without_never(root, source, lines):
    with open(os.path.join(root, source), encoding="utf-8", errors="replace") as f:
        text = f.readlines()
    return {n: c for n, c in lines.items() if not (0 < n <= len(text) and NEVER.search(text[n - 1]))}


class Row:
    def __init__(self):
        self.files = self.lines = self.ran = 0

    def add(self, lines):
        self.files += 1
        self.lines += len(lines)
        self.ran += sum(c > 0 for c in lines.values())

    def percent(self):
        return 100.0 * self.ran / self.lines if self.lines else 100.0


def tabulate(found):
    rows = collections.OrderedDict((name, Row()) for name in FOLDERS + ["untrusted", "all"])
    for source, lines in found.items():
        rows[source.split(os.sep)[0]].add(lines)
        rows["all"].add(lines)
        if UNTRUSTED.match(source):
            rows["untrusted"].add(lines)
    return rows


def print_table(rows):
    print("%-10s %6s %7s %7s %7s" % ("folder", "files", "lines", "ran", "%"))
    for name, row in rows.items():
        print("%-10s %6d %7d %7d %7.1f" % (name, row.files, row.lines, row.ran, row.percent()))


def print_files(found, most):
    left = sorted(((sum(c == 0 for c in lines.values()), source) for source, lines in found.items()), reverse=True)
    for n, source in left[:most]:
        print("%5d of %5d  %s" % (n, len(found[source]), source))


def print_lines(root, found, source):
    if source not in found:
        sys.exit("no source '%s' was compiled for coverage" % source)
    with open(os.path.join(root, source), encoding="utf-8") as f:
        text = f.read().splitlines()
    for number in sorted(n for n, c in found[source].items() if c == 0):
        print("%5d  %s" % (number, text[number - 1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root")
    parser.add_argument("build")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--lines")
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--least-untrusted", type=float, default=0)
    options = parser.parse_args()
    found = read(options.root, options.build)
    if options.lines:
        print_lines(options.root, found, options.lines)
        return 0
    rows = tabulate(found)
    print_table(rows)
    print_files(found, options.files)
    low = [name for name, row in rows.items()
           if row.percent() < (options.least_untrusted if name == "untrusted" else options.least)]
    if low:
        print("below what is asked for: " + ", ".join(low))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
