#!/usr/bin/env python3
"""Times products of rows by the matrix of their type with one part of their schedule off at a time, and prints a table: µs, and times that of the
whole schedule. Each time is a line of JSON that is added to --out, and what is there is not timed again. `--verb=compile` shows registers and spills
instead, `--verb=run --target=sim` checks the schedules, both without a GPU."""
import argparse
import json
import os
import tempfile
import time

import segments

ROOT = segments.ROOT
KEY = ("data", "pass", "dtype", "K", "Q", "off")


# ---- Statements ----------------------------------------------------------------------------------------------
def statements(text):
    return [s.split() for s in text.split(";") if s.strip()]


def text_of(rows):
    return "  ".join(" ".join(s) + ";" for s in rows)


def without(rows, *verbs):
    return [s for s in rows if s[0] not in verbs]


def scaled(rows, verb, factor):
    """The count of the first statement of that verb, times factor."""
    first = next((s for s in rows if s[0] == verb), None)
    return [s[:2] + [str(max(1, int(int(s[2]) * factor)))] + s[3:] if s is first else s for s in rows]


def with_count(rows, verb, count):
    return [s[:2] + [str(count)] + s[3:] if s[0] == verb else s for s in rows]


# ---- Schedules without matrix operations ---------------------------------------------------------------------
def across(index, extent, dtype):
    """Lanes, and the vectors that 16 bytes hold, along the last axis of a result."""
    wide = 16 // segments.BYTES[dtype]
    while extent % wide:
        wide //= 2
    lanes = 1
    while lanes < 32 and lanes * wide < extent:
        lanes *= 2
    return "lanes %s %d;  " % (index, lanes) + segments.some("vector", index, wide)


def scalar_rows(what, dtype, K, Q, routed):
    c, d, columns = ("q", "k", Q) if what == "fwd" else ("k", "q", K)
    return "block e 128%s;  groups e 8;  registers e 4;  %sunroll %s 4;" % (" by type" if routed else "", across(c, columns, dtype), d)


def scalar_weights(dtype, K, Q, parts):
    return "%s  groups k 8;  %s%sunroll e 4;" % (parts, segments.some("registers", "k", min(8, K // 8)), across("q", Q, dtype))


# ---- What is off ---------------------------------------------------------------------------------------------
def count(rows, verb, index, least):
    return next((int(s[2]) for s in rows if s[:2] == [verb, index]), least)


def without_vectors(rows):
    """Threads hold as many points as before: a vector is so many pieces of a matrix operation, or operations along its depth."""
    depth = next(s[1] for s in rows if s[0] == "mma")
    held = {s[1]: int(s[2]) * (count(rows, "registers", s[1], 1) if s[1] == depth else max(2, count(rows, "registers", s[1], 2))) for s in rows if s[0] == "vector"}
    rest = [s for s in rows if s[0] != "vector" and not (s[0] == "registers" and s[1] in held)]
    return [["registers", index, str(n)] for index, n in held.items()] + rest


def common(rows):
    """Of both kinds of products: name and statements. Of operations of four warps groups come in fours, and registers and vectors make a matrix."""
    four = any("m64" in s[-1] for s in rows)
    if four:
        yield "groups but 4", with_count(rows, "groups", 4)
    else:
        yield "groups", without(rows, "groups")
        yield "registers", without(rows, "registers")
        yield "registers, vectors", without(rows, "registers", "vector")
    yield "vectors", without_vectors(rows)
    yield "stages: 1 buffer", with_count(rows, "pipeline", 1)
    yield "stages: 2 buffers", with_count(rows, "pipeline", 2)
    yield "stages, shared memory", without(rows, "keep", "pipeline")


def of_rows(what, dtype, K, Q, rows, number, types):
    for times, factor in (("half", 1 / 2), ("twice", 2)):
        yield "tiles: %s the rows" % times, scaled(rows, "block", factor)
    yield from common(rows)
    if any("m64" in s[-1] for s in rows):
        yield "warps of four", statements(segments.rows_schedule(what, dtype, K, Q, number, types, False))
    yield "matrix operations", statements(scalar_rows(what, dtype, K, Q, True))
    yield "matrix operations, tiles of types", statements(scalar_rows(what, dtype, K, Q, False))


def of_weights(dtype, K, Q, rows):
    for times, factor in (("a quarter", 1 / 4), ("half", 1 / 2), ("twice", 2), ("4 times", 4)):
        yield "parts: %s the rows" % times, scaled(rows, "split", factor)
    yield "parts: `split`", without(rows, "split")
    if any(s[0] == "block" and s[1] == "k" for s in rows):
        yield "blocks of rows of the matrix", [s for s in rows if s[:2] != ["block", "k"]]
    yield from common(rows)
    part = count(rows, "split", "e", 0)
    for off, parts in (("", "block r 1;  split e %d;" % part), (", parts", "block r 1;"), (", parts of types: ranges of rows", "block e %d;" % part)):
        yield "matrix operations" + off, statements(scalar_weights(dtype, K, Q, parts))


def variants(what, dtype, K, Q, number, types):
    """Name and text of the whole schedule, and of each that lacks something of it."""
    whole = statements(segments.schedule(what, dtype, K, Q, number, types))
    yield "–", text_of(whole)
    of = of_weights(dtype, K, Q, whole) if what == "dw" else of_rows(what, dtype, K, Q, whole, number, types)
    for off, rows in of:
        if rows != whole:
            yield off, text_of(rows)


# ---- All -----------------------------------------------------------------------------------------------------
def cell(row, whole):
    if "cold_ms" in row:
        return "%.1f | %s" % (1e3 * row["cold_ms"], "%.2f" % (row["cold_ms"] / whole["cold_ms"]) if "cold_ms" in whole else "–")
    if "registers" in row:
        return "%d registers, %d B spilled | –" % (row["registers"], row["spills"])
    return "%s | –" % (row.get("reason") or row["verdict"])


def table(rows):
    print("| data | pass | type | K × Q | off | µs | × | schedule |\n|---|---|---|--:|---|--:|--:|---|")
    whole = {}
    for r in rows:
        case = tuple(r[k] for k in KEY[:-1])
        if r["off"] == "–":
            whole[case] = r
        print("| %s | %s | %s | %d × %d | %s | %s | `%s` |" % (*case, r["off"], cell(r, whole.get(case, {})), r["schedule"]))


def cases(o):
    for name in o.names.split(","):
        for K, Q in (map(int, s.split("x")) for s in o.sizes.split(",")):
            for dtype in o.dtypes.split(","):
                for what in o.passes.split(","):
                    yield name, what, dtype, K, Q


def measure(o, add, known):
    import numpy as np
    end, folder = time.time() + o.seconds, tempfile.mkdtemp()
    for name, what, dtype, K, Q in cases(o):
        ptr = segments.pointers(name, o.data)
        path = os.path.join(folder, name + ".npz")
        np.savez(path, rowptr=ptr.astype(np.int32), col=np.zeros(int(ptr[-1]), np.int32))
        for off, text in variants(what, dtype, K, Q, int(ptr[-1]), len(ptr) - 1):
            key = (name, what, dtype, K, Q, off)
            if key in known:
                continue
            if time.time() > end:
                return print("out of time")
            add({**dict(zip(KEY, key)), **segments.ours(o, path, int(ptr[-1]), len(ptr) - 1, what, dtype, K, Q, text)})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    segments.options(p)
    p.set_defaults(names="uniform1000", sizes="64x64", out="ablation.jsonl")
    o = p.parse_args()
    rows = segments.lines(o.out)

    def add(row):
        segments.append(o.out, row)
        rows.append(row)
        if row["verdict"] not in ("right", "compiled", "refused"):
            print("%s: %s %s" % (" ".join(str(row[k]) for k in KEY), row["verdict"], row.get("reason", "")), flush=True)
    if not o.table:
        measure(o, add, {tuple(r[k] for k in KEY) for r in rows})
    table(rows)


if __name__ == "__main__":
    main()
