#!/usr/bin/env python3
"""Links of a Markdown file lead to files that exist and headings that stand in them. Usage: links.py FILE.md"""
import os
import re
import sys


def anchors(text):
    return {re.sub(r"[^\w\- ]", "", h).strip().lower().replace(" ", "-") for h in re.findall(r"^#+ (.*)$", text, re.M)}


def main():
    path = sys.argv[1]
    text = re.sub(r"^```.*?^```", "", open(path, encoding="utf-8").read(), flags=re.M | re.S)
    faults = 0
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        file, _, anchor = link.partition("#")
        target = os.path.join(os.path.dirname(path), file) if file else path
        if "://" in link:
            continue
        if not os.path.exists(target) or (anchor and anchor not in anchors(open(target, encoding="utf-8").read())):
            faults += 1
            print("%s: no such place: %s" % (path, link))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
