"""Of a table of `gnnc test --draws`, what was never drawn, and of schedules and what is drawn besides, what was never right."""
import sys

rows = [(line[:58].split(None, 1), [int(n) for n in line[58:].split()]) for line in open(sys.argv[1], encoding="utf-8")
        if line.split(" ")[0] in ("option", "graph", "schedule", "also", "type")]
bad = [(name, n) for name, n in rows if not n[0] or (name[0] in ("schedule", "also") and not n[1])]
for name, n in bad:
    print("%s: drawn %d times, right %d times" % (" ".join(name).strip(), n[0], n[1]))
print("%d of %d good" % (len(rows) - len(bad), len(rows)))
