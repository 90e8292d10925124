#!/usr/bin/env python3
"""Runs lit over test/, long tests first, and ends with the ten slowest and the line `N passed, N failed`. Usage: run.py BUILD [lit arguments]

How long a test took the last time is in BUILD/test/.lit_test_times.txt; before there was one, it is what test/.lit_test_times.txt says.
"""
import importlib.util
import json
import os
import shutil
import subprocess
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def find_lit():
    for lit in ("/usr/lib/llvm-22/bin/lit", shutil.which("lit")):
        if lit and os.path.exists(lit):
            return lit
    sys.exit("lit is not installed: apt-get install llvm-22-tools, or pip install lit")


def tell_slowest(tests):
    slowest = sorted(tests, key=lambda t: t["elapsed"] or 0, reverse=True)[:10]
    for t in slowest:
        print("%6.1f s  %s" % (t["elapsed"] or 0, t["name"].replace("gnnc :: ", "")))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    build, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    places = [a for a in arguments if not a.startswith("-")] or [here]
    arguments = [a for a in arguments if a.startswith("-")]
    results = os.path.join(build, "test-results.json")
    if os.path.exists(results):
        os.remove(results)
    if importlib.util.find_spec("psutil"):   # lit wants it for limits of time
        arguments.append("--timeout=%d" % (1500 if {"--param=sanitized=1", "--param=coverage=1"} & set(arguments) else 600))
    status = subprocess.call([sys.executable, find_lit(), "-v", "-j2", "--order=smart",
                              "--param=build=" + build, "--output=" + results] + arguments + places)
    if not os.path.exists(results):
        sys.exit("lit gave no results")
    with open(results, encoding="utf-8") as f:
        tests = json.load(f)["tests"]
    if places == [here]:
        tell_slowest(tests)
    codes = [t["code"] for t in tests]
    passed = sum(c in PASSED for c in codes)
    skipped = sum(c in SKIPPED for c in codes)
    failed = len(codes) - passed - skipped
    if skipped:
        print("%d skipped: they need what this machine lacks" % skipped)
    for t in tests:
        if t["code"] not in PASSED | SKIPPED:
            print("%s: %s" % (t["code"].lower(), t["name"].replace("gnnc :: ", "")))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or status or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
