"""Usage: lines.py FILE N. Each line is a JSON object with op, machine, sizes; at least N have a schedule and a time."""
import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]
assert all({"op", "machine", "graph", "sizes"} <= set(x) for x in lines)
timed = {x["schedule"] for x in lines if x.get("ns", 0) > 0 and "schedule" in x}
assert len(timed) >= int(sys.argv[2]), len(timed)
