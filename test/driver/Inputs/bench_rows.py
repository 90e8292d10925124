"""Usage: bench_rows.py FOLDER. Writes rows as gnnc bench --json prints them to before.json and after.json."""
import json
import os
import sys


def row(graph, plan, median, spread=1.0, verdict="right"):
    x = {"op": "gat", "target": "sm_90a", "type": "f32", "plan": plan, "graph": graph, "sizes": "E=1", "verdict": verdict}
    if verdict == "right":
        x |= {"median_ms": median * 1e-3, "first_quartile_ms": (median - spread) * 1e-3, "third_quartile_ms": (median + spread) * 1e-3}
    return x


before = [row("a", "rows", 100), row("b", "rows", 100), row("c", "rows", 100, 5), row("d", "rows", 100, 0.1), row("e", "one", 10), row("e", "two", 20),
          row("f", "rows", 1), row("g", "rows", 1, verdict="WRONG")]
after = [row("b", "default", 120), row("a", "rows", 50), row("c", "rows", 97, 5), row("d", "rows", 99, 0.1), row("e", "two", 10), row("e", "one", 20),
         row("g", "rows", 1), row("h", "rows", 1)]
for name, rows in ("before", before), ("after", after):
    with open(os.path.join(sys.argv[1], name + ".json"), "w") as f:
        f.writelines(json.dumps(x) + "\n" for x in rows)
