#!/usr/bin/env python3
"""Compares the diagnostics of `gnnc check` with the comments of a source. Usage: expect.py GNNC FILE [options of gnnc]
With --emit=FORM among the options the file is compiled instead, and what it gives is thrown away.

    y[v] = x[w];       // expect E0204 @12: 'w' is not declared

says that this line gets E0204 at column 12 (in bytes, from 1) with a message that holds the text; the column and the text
may be left out; so may what follows '; and: ', which a note, help or fix of it holds. Several may stand on a line. `// expect-file E0801` wants one without a line of this file. Diagnostics
that nobody expects fail the test, warnings too; so does an exit status that does not fit.
"""
import json
import os
import re
import subprocess
import sys

EXPECT = re.compile(r"(?://|#|;) expect(-file)? ([EWP]\d{4})(?: @(\d+))?(?:: (.*?))?(?=\s*(?://|#|;) expect|\s*$)")


def expected(path):
    for number, line in enumerate(open(path, "rb").read().split(b"\n"), 1):
        text = line.decode("utf-8", "replace")
        for m in EXPECT.finditer(text):
            whole, code, column, text = m.groups()
            message, *more = (text or "").split("; and: ")
            yield {"line": None if whole else number, "code": code, "column": column and int(column), "message": message,
                   "more": more}


def reported(gnnc, path, options):
    compiles = any(o.startswith("--emit=") for o in options)
    verb = ["-o", os.devnull] if compiles else ["check"]
    done = subprocess.run([gnnc] + verb + ["--diagnostics-format=json", "--max-errors=0"] + options + [path],
                          capture_output=True, timeout=120)
    found = []
    for line in done.stderr.decode("utf-8", "replace").splitlines():
        try:
            d = json.loads(line)
        except ValueError:
            sys.exit("not a JSON diagnostic: " + line)
        if d["file"] != path:
            d["line"] = d["column"] = None
        found.append(d)
    return done.returncode, found


def fits(want, got):
    return (want["code"] == got["code"] and want["line"] == got["line"] and want["column"] in (None, got["column"])
            and want["message"] in got["message"]
            and all(any(text in part["message"] for part in got["notes"] + got["fixes"]) for text in want["more"]))


def main():
    gnnc, path, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    status, found = reported(gnnc, path, options)
    faults = []
    for want in expected(path):
        hit = next((g for g in found if fits(want, g)), None)
        if hit:
            found.remove(hit)
            want["hit"] = hit
        else:
            faults.append("expected, not reported: %s:%s:%s: %s %s" % (path, want["line"], want["column"], want["code"], "; and: ".join([want["message"]] + want["more"])))
    faults += ["reported, not expected: %s:%s:%s: %s %s" % (path, g["line"], g["column"], g["code"], g["message"]) for g in found]
    errors = any(w["code"][0] == "E" for w in expected(path)) or "-Werror" in options
    if not faults and status != (1 if errors else 0):
        faults.append("exit status %d" % status)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
