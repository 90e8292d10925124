#!/usr/bin/env python3
"""Times products of rows by the matrix of their type, forward and both gradients, by gnnc and by others. Each time is a line of JSON that is added to
--out; --table prints what is there beside the bytes that must move. Data: NAME.npz with `ptr` in --data, uniformN: 1,000,000 rows of N types, or rowsN: N rows of
one type, for the pass `dense`."""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "bench", "family"))
BYTES = {"f32": 4, "f16": 2, "bf16": 2}
OPERAND = {"f32": "tf32", "f16": "f16", "bf16": "bf16"}
PASSES = ("fwd", "dx", "dw")


# ---- Schedules -----------------------------------------------------------------------------------------------
def some(verb, index, n):
    return "%s %s %d;  " % (verb, index, n) if n > 1 else ""


def up(n, multiple):
    return -(-n // multiple) * multiple


def divisor(n, most):
    """The largest power of two, `most` at most, that divides n."""
    return next(v for v in (4, 2, 1) if v <= most and n % v == 0)


def odd_rows_schedule(d, c, depth, columns, x, size, dtype):
    """Extents that no whole operations cover: the rest is masked. Two groups have the columns, two the rows."""
    if depth > 128 or columns > 128:
        return "block e 64 by type;  groups %s 4;  mma %s %s;  keep %s shared;  pipeline e 3;" % (c, d, OPERAND[dtype], x)
    vector, run, mine = divisor(columns, 4), 4 if size == 2 and depth % 4 == 0 else 1, up(columns, 16) // 2
    mine = up(mine, 8 * (vector // 2 or 1))
    return ("block e 512 by type;  groups %s 2;  groups e 2;  registers e %d;  %sregisters %s %d;  %sregisters %s %d;  mma %s %s;  keep %s shared;  pipeline e 3;"
            % (c, 4 if vector > 1 and size == 2 else 2, some("vector", c, vector), c, mine // 4 // vector, some("vector", d, run), d, up(depth, 32 // size) // 4 // run,
               d, OPERAND[dtype], x))


def few_rows_schedule(d, c, depth, columns, dtype):
    """Types of fewer rows than an operation has: a warp each, which reads the matrix once."""
    wide = 16 // BYTES[dtype]
    vector, run = min(wide, columns // 8), min(wide, depth // 4)
    return ("block e 64 by type;  vector %s %d;  registers %s %d;  vector %s %d;  %smma %s %s;"
            % (c, vector, c, columns // 4 // vector, d, run, some("registers", d, depth // 4 // run), d, OPERAND[dtype]))


def rows_schedule(what, dtype, K, Q, rows, types, four=True):
    """Rows come some rounds ahead; the matrix of a tile's type is in registers, of which each group has some columns. four: where it does
    not fit, four warps share it."""
    d, c, depth, columns, x = ("k", "q", K, Q, "x") if what == "fwd" else ("q", "k", Q, K, "g")
    wide, size = 16 // BYTES[dtype], BYTES[dtype]
    if depth % (4 * 2) or columns % 8 or depth * size % 16:
        return odd_rows_schedule(d, c, depth, columns, x, size, dtype)
    if rows < 32 * types and max(depth, columns) <= 64:
        return few_rows_schedule(d, c, depth, columns, dtype)
    largest = max(depth, columns) * size
    if four and depth == 256 and columns == 256:   # four warps share the matrix, or half of it, in shared memory; of f32 rows of four warps fit beside it
        mine, few = 256 if size == 2 else 128, rows < 300000
        ahead = "  keep %s shared;  pipeline e 1;" % x if size == 2 or few else ""
        return ("block e %d by type;  %sgroups e %d;  vector %s %d;  registers %s 8;  vector %s %d;  registers %s %d;  mma %s %s m64k%d;%s"
                % (512 if size == 2 and few else 1024, "block %s %d;  " % (c, mine) if mine < columns else "", 4 if size == 4 and few else 8, c, wide, c, d, wide, d, depth // 4 // wide, d, OPERAND[dtype], 32 // size, ahead))
    groups, more, e, buffers, block = {32: (1, 4, 1, 3, 512), 64: (1, 4, 1, 4, 512), 128: (2, 2, 1, 4, 256) if size == 2 else (1, 4, 1, 4, 512),
                                       256: (4, 1, 2, 4, 256) if size == 2 else (2, 2, 1, 4, 256),
                                       512: (8, 1, 2, 3, 512) if size == 2 else (4, 1, 1, 4, 512), 1024: (8, 1, 1, 3, 512)}[largest]
    mine = columns // (2 if largest == 1024 else 1) // groups
    run, vector = min(wide, depth // 4), min(wide, mine // 8)
    split = "block %s %d;  " % (c, columns // 2) if largest == 1024 else ""
    return ("block e %d by type;  %s%s%sregisters e %d;  " % (block, split, some("groups", "e", more), some("groups", c, groups), 2 * e) +
            "vector %s %d;  %svector %s %d;  %s" % (c, vector, some("registers", c, mine // 4 // vector * vector if mine // 4 > 2 * vector else 1), d, run,
                                                    some("registers", d, depth // 4 // run)) +
            "mma %s %s;  keep %s shared;  pipeline e %d;" % (d, OPERAND[dtype], x, buffers))


def split(rows, K, Q):
    """Parts enough to fill the device, and no more: each leaves a matrix."""
    return min(8192, max(256, 2 ** math.ceil(math.log2(max(rows, 1) / (512 if max(K, Q) < 128 else 256)))))


def weights_schedule(dtype, K, Q, rows):
    size = BYTES[dtype]
    low = 4 if size == 2 else 2
    if K % 16 or Q % 16:
        if max(K, Q) > 128:
            return "block r 1;  split e %d;  unroll e 2;  mma e %s;" % (split(rows, K, Q), OPERAND[dtype])
        return ("block r 1;  groups q 4;  registers q %d;  registers k %d;  split e %d;  registers e %d;  mma e %s;  keep x, g shared;  pipeline e %d;"
                % (up(Q, 32) // 16, up(K, 16) // 8, split(rows, K, Q), 32 if size == 2 else 4, OPERAND[dtype], 2 if size == 2 else 3))
    gk, gq, ge, vk, vq, e, buffers = {
        16: (1, 1, 4, 1, 2, 1, 3), 32: (1, 1, 4, 2, 4, 1, 3), 64: (1, 2, 2, 4, 4, 1, 3) if size == 2 else (4, 2, 1, 1, 4, 2, 3),
        128: (2, 4, 1, 4, 4, 1, 4) if size == 2 else (2, 4, 1, 4, 4, 2, 4),
        256: (2, 4, 1, 4, 8, 1, 3) if size == 2 else (2, 4, 1, 4, 8, 1, 2)}[max(K, Q)]
    cut = "block k 128;  " if max(K, Q) == 256 else ""
    return ("block r 1;  %s%s%s%s%svector q %d;  split e %d;  registers e %d;  mma e %s;  keep x, g shared;  pipeline e %d;"
            % (cut, some("groups", "k", gk), some("groups", "q", gq), some("groups", "e", ge), some("vector", "k", vk), vq, split(rows, K, Q), low * e, OPERAND[dtype], buffers))


def schedule(what, dtype, K, Q, rows, types):
    return weights_schedule(dtype, K, Q, rows) if what == "dw" else rows_schedule(what, dtype, K, Q, rows, types)


# ---- Data ----------------------------------------------------------------------------------------------------
def pointers(name, data):
    import numpy as np
    if name.startswith("rows"):
        return np.array([0, int(name[4:])], np.int64)
    if name.startswith("uniform"):
        return np.linspace(0, 1000000, int(name[7:]) + 1).astype(np.int64)
    with np.load(os.path.join(data, name + ".npz")) as z:
        return z["ptr"].astype(np.int64)


def bytes_moved(what, rows, types, size, K, Q):
    return size * (rows * (K + Q) + types * K * Q)


# ---- gnnc ----------------------------------------------------------------------------------------------------
def made_by_compiler(what, dtype):
    """Of f32 no more than `mma`, which asks for tf32; of 16 bits no schedule at all."""
    return "mma %s tf32;" % {"fwd": "k", "dx": "q", "dw": "e", "dense": "k"}[what] if dtype == "f32" else ""


def command(o, source, path, rows, types, what, dtype, K, Q, text):
    known = ["-D", "K=%d" % K, "-D", "Q=%d" % Q, "-D", "T=" + dtype, *(["--arch=" + o.arch] if o.arch else []), *(["--schedule=s"] if text else [])]
    known += ["-D", "R=%d" % types] if what != "dense" else []
    if o.verb == "compile":
        return [o.gnnc, "compile", source, "--op=" + what, *known, "-c", "--resource-usage", "-o", os.path.join(os.path.dirname(source), "s.cubin")]
    maps = ["--param=type=@row"] if what != "dense" else ["--size=E=%d" % rows]
    return [o.gnnc, o.verb, source, "--graph=" + path, "--op=" + what, *known, *maps, "--target=" + o.target, "--check-budget=%d" % o.budget,
            *(["--json", "--flush", "--seconds=1", "--repeat=%d" % o.repeat] if o.verb == "bench" else ["--check"])]


def registers(listing):
    """The most registers of a thread, and spilled bytes, of all versions' kernels."""
    rows = [r for r in (re.match(r"\S.*? {2,}\S+ +\d+ +(\d+) +(\d+(?:\+\d+)?) ", line) for line in listing.splitlines()) if r]
    return dict(registers=max(int(r[1]) for r in rows), spills=sum(sum(map(int, r[2].split("+"))) for r in rows))


def outcome(o, done):
    results = [json.loads(line) for line in done.stdout.splitlines()] if o.verb == "bench" else []
    if results and "median_ms" in results[0]:
        row = results[0]
        return dict(cold_ms=row["median_ms"], hot_ms=row["hot_ms"], prepare_ms=row["prepare_ms"], verdict=row["verdict"], plan=row["plan"])
    if o.verb == "compile" and not done.returncode:
        return dict(verdict="compiled", **registers(done.stderr))
    checked = re.search(r"^\S+ +%s +\S+ +(\S.*?)  .* right$" % o.target, done.stdout, re.M) if o.verb == "run" and not done.returncode else None
    if checked:
        return dict(verdict="right", plan=checked[1])
    fault = next((line for line in done.stderr.splitlines() if "error" in line), "exit status %d" % done.returncode)
    refused = re.search(r"error\[E05", fault)
    return dict(verdict=results[0]["verdict"] if results else "refused" if refused else "failed", reason=re.sub(r"^.*?: error", "error", fault)[:200])


def ours(o, path, rows, types, what, dtype, K, Q, text):
    """By the schedule of that text; none: what the compiler makes."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "s.gnn")
        with open(os.path.join(HERE, "segments.gnn")) as ops, open(source, "w") as out:
            out.write(ops.read() + ("schedule %s s { %s }\n" % (what, text) if text else ""))
        done = subprocess.run(command(o, source, path, rows, types, what, dtype, K, Q, text), capture_output=True, text=True)
    return dict(outcome(o, done), schedule=text)


# ---- Others --------------------------------------------------------------------------------------------------
def problem(torch, ptr, dtype, K, Q):
    t = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[dtype]
    rows, types = int(ptr[-1]), len(ptr) - 1
    make = lambda *shape: torch.rand(shape, device="cuda").sub_(0.5).to(t)
    return make(rows, K), make(rows, Q), make(types, K, Q)


def reference(torch, ptr, x, g, w, what, t):
    a, b = int(ptr[t]), int(ptr[t + 1])
    x, g, w = x[a:b].double(), g[a:b].double(), w[t].double()
    return x @ w if what in ("fwd", "dense") else g @ w.t() if what == "dx" else x.t() @ g


def is_right(torch, ptr, x, g, w, what, y):
    for t in sorted({0, (len(ptr) - 1) // 2, len(ptr) - 2, int((ptr[1:] - ptr[:-1]).argmax())}):
        want = reference(torch, ptr, x, g, w, what, t)
        got = (y[t] if what == "dw" else y[int(ptr[t]):int(ptr[t + 1])]).double()
        if want.numel() and (got - want).abs().max() > 2e-2 * max(1.0, float(want.abs().max())):
            return False
    return True


def loop_of_mm(torch, ptr, x, g, w, what):
    cuts = [slice(int(a), int(b)) for a, b in zip(ptr[:-1], ptr[1:])]
    y = torch.empty_like(g if what in ("fwd", "dense") else x if what == "dx" else w)

    def call():
        for t, s in enumerate(cuts):
            if what in ("fwd", "dense"):
                torch.mm(x[s], w[t], out=y[s])
            elif what == "dx":
                torch.mm(g[s], w[t].t(), out=y[s])
            else:
                torch.mm(x[s].t(), g[s], out=y[t])
        return y
    return call


def grouped_mm(torch, ptr, x, g, w, what):
    ends = torch.tensor(ptr[1:], dtype=torch.int32, device="cuda")
    if what == "dw":
        return lambda: torch._grouped_mm(x.t(), g, offs=ends)
    return lambda: torch._grouped_mm(*((x, w) if what == "fwd" else (g, w.transpose(1, 2))), offs=ends)


def peers(o, torch, clock, ptr, dtype, K, Q, what):
    """Name and times of each."""
    torch.backends.cuda.matmul.allow_tf32 = True
    x, g, w = problem(torch, ptr, dtype, K, Q)
    types = len(ptr) - 1
    import grouped
    makers = {"triton grouped": lambda: list(grouped.variants(what, ptr.tolist(), x, g, w, K, Q))} if what != "dense" else {}
    if dtype == "bf16" and what != "dense":
        makers["torch grouped_mm"] = lambda: [grouped_mm(torch, ptr, x, g, w, what)]
    if types <= 300:
        makers["loop of mm"] = lambda: [loop_of_mm(torch, ptr, x, g, w, what)]
    for name, make in makers.items():
        best = None
        try:
            calls, quick = make(), []
            for call in calls:
                try:
                    quick.append((clock.wall(call) and min(clock.wall(call) for _ in range(3)), call))
                except Exception:   # this configuration takes more than there is
                    continue
            call = min(quick, key=lambda q: q[0])[1]
            right = is_right(torch, ptr, x, g, w, what, call())
            cold, hot = clock.times(call)
            best = dict(cold_ms=cold, hot_ms=hot, verdict="right" if right else "WRONG")
        except Exception as fault:
            best = dict(verdict="failed", reason=" ".join(str(fault).split())[:120])
        yield name, best


# ---- All -----------------------------------------------------------------------------------------------------
KEY = ("data", "pass", "dtype", "K", "Q", "who")


def best_other(by):
    return min((r for w, r in by.items() if not w.startswith("gnnc") and r.get("verdict") == "right"), key=lambda r: r["cold_ms"], default=None)


def plan_cells(mine, other):
    """What a plan takes, and the launches after which it is paid for by what each is faster."""
    if "prepare_ms" not in mine:
        return "– | –"
    gain = other["cold_ms"] - mine["cold_ms"] if other else 0
    return "%.2f | %s" % (mine["prepare_ms"], "%d" % math.ceil(mine["prepare_ms"] / gain) if gain > 0 else "–")


def table(rows):
    print("| data | pass | type | K × Q | bytes, µs | gnnc | × | best other | × gnnc | plan, ms | paid after |\n|---|---|---|--:|--:|--:|--:|---|--:|--:|--:|")
    cases, ratios = {}, {}
    for r in rows:
        cases.setdefault(tuple(r[k] for k in KEY[:-1]), {})[r["who"]] = r
    for case, by in cases.items():
        mine, other = by.get("gnnc", {}), best_other(by)
        floor = next(iter(by.values()))["bytes"] / 4.2e12 * 1e6
        us = 1e3 * mine["cold_ms"] if "cold_ms" in mine else math.nan
        print("| %s | %s | %s | %d × %d | %.1f | %s | %.2f | %s | %s | %s |" % (*case, floor, "%.1f" % us if us == us else mine.get("reason", "–"), us / floor,
              "%s %.1f" % (other["who"], 1e3 * other["cold_ms"]) if other else "–", "%.2f" % (1e3 * other["cold_ms"] / us) if other and us == us else "–",
              plan_cells(mine, other)))
        if other and us == us:
            ratios.setdefault((case[1], case[2]), []).append(1e3 * other["cold_ms"] / us)
    for key, x in sorted(ratios.items()):
        print("\n%s %s: %.2f × the best other, geometric mean of %d; least %.2f" % (*key, math.exp(sum(map(math.log, x)) / len(x)), len(x), min(x)))


def lines(path):
    """Those of a file of JSON lines; of none, none."""
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [json.loads(line) for line in f]


def append(path, row):
    with open(path, "a") as f:
        f.write(json.dumps(row) + "\n")


def options(p):
    p.add_argument("--data", default=".")
    p.add_argument("--names", default="uniform1000,uniform100")
    p.add_argument("--sizes", default="32x32,64x64,128x128")
    p.add_argument("--dtypes", default="f32,f16")
    p.add_argument("--passes", default=",".join(PASSES))
    p.add_argument("--out", default="segments.jsonl")
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--target", default="cuda")
    p.add_argument("--arch", help="architecture that is compiled for, where no GPU says it: sm_90a has operations of four warps")
    p.add_argument("--verb", default="bench", choices=("bench", "run", "compile"), help="run: checks alone; compile: registers and spills alone")
    p.add_argument("--budget", type=int, default=3000000, help="expressions of the check")
    p.add_argument("--repeat", type=int, default=15)
    p.add_argument("--seconds", type=float, default=540)
    p.add_argument("--table", action="store_true", help="print what is in --out, and run nothing")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options(p)
    p.add_argument("--only", default="ours,peers", help="default: what the compiler makes without a schedule, of f32 from `mma k tf32`")
    o = p.parse_args()
    rows = lines(o.out)
    if o.table:
        return table(rows)
    import numpy as np
    known, end, clock, torch = {tuple(r[k] for k in KEY) for r in rows}, time.time() + o.seconds, None, None
    if "peers" in o.only:
        import torch
        import measure
        clock = measure.Clock()
    folder = tempfile.mkdtemp()
    for name in o.names.split(","):
        ptr = pointers(name, o.data)
        path = os.path.join(folder, name + ".npz")
        np.savez(path, rowptr=ptr.astype(np.int32), col=np.zeros(int(ptr[-1]), np.int32))
        for K, Q in (map(int, s.split("x")) for s in o.sizes.split(",")):
            for dtype in o.dtypes.split(","):
                for what in o.passes.split(","):
                    def add(who, row):
                        row = {**dict(zip(KEY, (name, what, dtype, K, Q, who))), "bytes": bytes_moved(what, int(ptr[-1]), len(ptr) - 1, BYTES[dtype], K, Q), **row}
                        append(o.out, row)
                        print(" ".join(str(row[k]) for k in KEY + ("cold_ms", "hot_ms", "registers", "spills", "verdict", "plan", "reason") if k in row), flush=True)
                    if time.time() > end:
                        return print("out of time")
                    for who, asked in (("gnnc", "ours"), ("gnnc default", "default")):
                        if asked in o.only and (name, what, dtype, K, Q, who) not in known:
                            text = schedule(what, dtype, K, Q, int(ptr[-1]), len(ptr) - 1) if asked == "ours" else made_by_compiler(what, dtype)
                            add(who, ours(o, path, int(ptr[-1]), len(ptr) - 1, what, dtype, K, Q, text))
                    if "peers" in o.only and (name, what, dtype, K, Q, "triton grouped" if what != "dense" else "loop of mm") not in known:
                        for who, row in peers(o, torch, clock, ptr, dtype, K, Q, what):
                            add(who, row)
                        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
