"""Fails where a version but the last does not bound each size of the op below 2^31. Usage: bounded.py MANIFEST"""
import json
import sys

manifest = json.load(open(sys.argv[1]))
sizes = [s["name"] for s in manifest["spaces"] if s["kind"] == "free"]
assert sizes and len(manifest["versions"]) > 1
for version in manifest["versions"][:-1]:
    for size in sizes:
        bounds = [int(g["holds"].split()[1]) for g in version["guards"] if g.get("holds", "").split()[::2] == [size, "<"]]
        assert any(b <= 2 ** 31 for b in bounds), (version["name"], size)
