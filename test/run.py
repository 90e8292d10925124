#!/usr/bin/env python3
"""Runs lit over test/ and ends with the line `N passed, N failed`. Usage: run.py BUILD [lit arguments]"""
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


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    build, arguments = os.path.abspath(sys.argv[1]), sys.argv[2:]
    places = [a for a in arguments if not a.startswith("-")] or [here]
    arguments = [a for a in arguments if a.startswith("-")]
    results = os.path.join(build, "test-results.json")
    if os.path.exists(results):
        os.remove(results)
    if importlib.util.find_spec("psutil"):   # lit wants it for limits of time
        arguments.append("--timeout=%d" % (1500 if "--param=sanitized=1" in arguments else 600))
    status = subprocess.call([sys.executable, find_lit(), "-v", "-j2", "--order=lexical",
                              "--param=build=" + build, "--output=" + results] + arguments + places)
    if not os.path.exists(results):
        sys.exit("lit gave no results")
    codes = [t["code"] for t in json.load(open(results))["tests"]]
    passed = sum(c in PASSED for c in codes)
    skipped = sum(c in SKIPPED for c in codes)
    failed = len(codes) - passed - skipped
    if skipped:
        print("%d skipped: they need what this machine lacks" % skipped)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or status or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
