"""Usage: named.py FILE. Of eight graphs, half of them like others, six were searched and all were timed."""
import collections
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
tries = collections.Counter(line["graph"] for line in lines)
assert len(tries) == 8 and sum(name.startswith("like:set/") for name in tries) == 4, tries
counts = sorted(tries.values())
assert counts[1] < counts[2], counts
