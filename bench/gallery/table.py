"""The table of what gallery.py recorded."""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "family"))
import report  # noqa: E402

TITLES = ("op", "graph", "forward", "x eager", "x compile", "both", "x eager", "x compile", "over must", "both", "kernels", "spills", "share", "both",
          "compile s", "verdict")


def load(path):
    """{(dtype, scale): {(op, graph): {who: row}}}; of what stands twice the last."""
    found = {}
    if os.path.exists(path):
        for line in open(path):
            row = json.loads(line)
            cases = found.setdefault((row["dtype"], row["scale"]), {})
            cases.setdefault((row["op"], row["graph"]), {})[row["who"]] = row
    return found


def ratios(case, what):
    """Of gnnc over eager and over compiled; None where one has no time."""
    ours = case.get("gnnc", {}).get(what)
    return [ours / case[who][what] if ours and case.get(who, {}).get(what) else None for who in ("eager", "compile")]


def note_of(row):
    """What should be looked at: a fault, a verdict that is not right, a naive plan, remarks."""
    if "fault" in row:
        return row["fault"][:60]
    notes = [p["verdict"] for p in row["passes"] if p["verdict"] != "right"]
    notes += ["naive"] if any(p["plan"].startswith("naive") for p in row["passes"]) else []
    return ", ".join(dict.fromkeys(notes + row.get("remarks", []))) or "right"


def cells(key, case):
    row = case.get("gnnc", {})
    passes = row.get("passes")
    ms = lambda what: "%.1f" % (1e3 * row[what]) if what in row else "-"  # noqa: E731
    found = [*key, ms("forward"), *map(report.ratio, ratios(case, "forward")), ms("both"), *map(report.ratio, ratios(case, "both"))]
    if not passes:
        return found + ["-"] * 7 + [note_of(row) if row else "-"]
    f, b = passes
    must, moved = f["must"] + b["must"], f["bytes"] + b["bytes"]
    whole = sum(p["share"] * p["ms"] for p in passes) / sum(p["ms"] for p in passes)
    return found + ["%.2f" % (f["bytes"] / f["must"]) if f["bytes"] else "-", "%.2f" % (moved / must) if moved else "-",
                    "%d+%d" % (f["kernels"], b["kernels"]), f["spills"] + b["spills"], "%.0f%%" % (100 * f["share"]), "%.0f%%" % (100 * whole),
                    "%.1f" % row["compile_s"], note_of(row)]


def print_kernels(cases, most=25):
    """The kernels that take the longest, and what they move in that time."""
    rows = []
    for (op, graph), case in cases.items():
        for p in case.get("gnnc", {}).get("passes", []):
            for name, moved, registers, spills, ms in (n for n in p["names"] if n[4]):
                rows.append([op, graph, name, "%.1f" % (1e3 * ms), "%.0f%%" % (100 * ms / p["ms"]), "%.0f" % (moved / ms / 1e6), registers, spills])
    rows.sort(key=lambda r: -float(r[3]))
    if rows:
        print("the kernels that take the longest")
        report.print_table(("op", "graph", "kernel", "us", "of its op", "GB/s", "registers", "spills"), rows[:most])


def print_estimates(cases):
    """Plans that were made and not run, those first that move the most over what they must."""
    rows = []
    for key, case in cases.items():
        row = case.get("estimate")
        if row and "passes" in row:
            f, b = row["passes"]
            rows.append([*key, "%.2f" % (f["bytes"] / f["must"]), "%.2f" % (b["bytes"] / b["must"]), "%d+%d" % (f["kernels"], b["kernels"]),
                         "%d+%d" % (f["spills"], b["spills"]), "%.1f" % row["compile_s"], f["plan"], b["plan"], " ".join(row["remarks"])])
        elif row:
            rows.append([*key, *["-"] * 5, row["fault"][:60], "", ""])
    if rows:
        rows.sort(key=lambda r: -sum(float(x) for x in r[2:4] if x != "-"))
        report.print_table(("op", "graph", "over must", "gradient", "kernels", "spills", "compile s", "plan", "of the gradient", "remarks"), rows)


def print_means(cases):
    groups = {}
    for (_, graph), case in cases.items():
        for name in ("all", graph):
            groups.setdefault(name, []).append(case)
    rows = []
    for name, members in groups.items():
        row = [name, len(members)]
        for what in ("forward", "both"):
            for values in zip(*(ratios(case, what) for case in members)):
                mean, n = report.geomean(values)
                row += ["%s of %d" % (report.ratio(mean), n), sum(1 for v in values if v and v <= 1)]
        rows.append(row)
    titles = ("of", "cases", *(t for what in ("forward", "both") for who in ("eager", "compile") for t in (what + " x " + who, "not slower")))
    report.print_table(titles, rows)


def print_peers(cases):
    """What of PyTorch has no time."""
    for key, case in sorted(cases.items()):
        for who in ("eager", "compile"):
            fault = case.get(who, {}).get("fault")
            if fault:
                print("%s on %s, %s: %s" % (*key, who, fault))


def show(path):
    for (dtype, scale), cases in sorted(load(path).items()):
        print("\n%s%s; times in us" % (dtype, ", graphs %d times smaller" % scale if scale > 1 else ""))
        timed = {key: case for key, case in cases.items() if set(case) != {"estimate"}}
        if timed:
            report.print_table(TITLES, [cells(key, case) for key, case in sorted(timed.items())])
            print_means(timed)
            print_kernels(timed)
        print_estimates(cases)
        print_peers(cases)
