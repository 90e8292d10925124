#!/usr/bin/env python3
"""Times what memory bounds, by gnnc and by others: reductions of segments, SpMM, SDDMM, softmax. Each time is a line of JSON that is
added to --out; what is there already is not timed again, so a run that ends early goes on where it is called again.
report.py prints tables of it."""
import argparse
import concurrent.futures
import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

import cases
import graphs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEY = ("graph", "op", "dtype", "F", "H", "who")


def words(text):
    return text.split(",")


def numbers(text):
    return [int(n) for n in text.split(",")]


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--family", type=words, default=list(cases.FAMILIES), help="of " + ", ".join(cases.FAMILIES))
    p.add_argument("--ops", type=words, help="of " + ", ".join(cases.OPS))
    p.add_argument("--graphs", type=words, default=["arxiv", "reddit2", "pattern1024", "products", "kron21", "road"],
                   help="of %s, or names of files in --data" % ", ".join(graphs.SPECS))
    p.add_argument("--dtypes", type=words, help="f32, f16, bf16")
    p.add_argument("--feats", type=numbers, help="numbers a row")
    p.add_argument("--only", type=words, default=["ours", "floors", "peers"], help="of ours, floors, peers")
    p.add_argument("--peers", type=words, help="only those whose names hold one of these")
    p.add_argument("--seconds", type=float, default=540, help="nothing begins after so long")
    p.add_argument("--most-gib", type=float, default=3, help="no case with a larger tensor")
    p.add_argument("--out", default="family.jsonl")
    p.add_argument("--data", help="folder of .npz graphs (rowptr, col), which go before those made here")
    p.add_argument("--made", default=os.path.join(tempfile.gettempdir(), "family-graphs"), help="folder of graphs made here")
    p.add_argument("--gnnc", default=os.path.join(ROOT, "build", "bin", "gnnc"))
    p.add_argument("--target", default="cuda")
    p.add_argument("--repeat", type=int, default=30, help="launches of a gnnc op")
    p.add_argument("--jobs", type=int, default=1, help="gnnc processes at a time, beside peers; they take turns at the GPU")
    p.add_argument("--again", action="store_true", help="time again what failed or was skipped")
    o = p.parse_args()
    for given, known, what in ((o.family, cases.FAMILIES, "family"), (o.ops or [], cases.OPS, "op"), (o.dtypes or [], cases.BYTES, "type"),
                               (o.only, ("ours", "floors", "peers"), "part")):
        for name in set(given) - set(known):
            p.error("no %s is called %s; there are %s" % (what, name, ", ".join(known)))
    return o


class Record:
    """The file of results."""

    def __init__(self, path, again=False):
        self.path, self.known, self.lock = path, {}, threading.Lock()
        for line in open(path) if os.path.exists(path) else ():
            row = json.loads(line)
            if not again or "cold_ms" in row or row["who"] == "graph" or (row["who"] == "floors" and "reason" not in row):
                self.known[tuple(row.get(k) for k in KEY)] = row

    def has(self, graph, case, who):
        return self.key(graph, case, who) in self.known

    @staticmethod
    def key(graph, case, who):
        return (graph, case and case.op, case and case.dtype, case and case.F, case and case.H, who)

    def add(self, graph, case, who, row):
        labels = dict(zip(KEY, self.key(graph, case, who)))
        row = {**labels, "family": case and case.family, **row}
        with self.lock, open(self.path, "a") as f:
            self.known[tuple(labels.values())] = row
            f.write(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n")
            print(self.text(row), flush=True)

    @staticmethod
    def text(row):
        if row["who"] == "graph":
            return "%-12s %d nodes, %d edges, at most %d of a node" % (row["graph"], row["nodes"], row["edges"], row["largest_degree"])
        figures = "  ".join("%s %9.4f" % (k[:-3], row[k]) for k in ("cold_ms", "hot_ms", "prepare_ms", "stream_ms", "gather_ms") if k in row)
        notes = " ".join(str(row[k]) for k in ("verdict", "plan", "variant", "reason") if row.get(k) not in (None, ""))
        return "%-12s %-14s %-4s F=%-3s H=%s  %-26s %s  %s" % (*(row[k] for k in KEY), figures, notes)


class Lost(Exception):
    """The process is of no use any more: a peer's fault stays with the device."""


class Run:
    """All that is timed. gnnc's processes run beside peers; a file that is locked says whose turn at the device it is."""

    def __init__(self, options):
        self.o, self.record = options, Record(options.out, options.again)
        self.end = time.time() + options.seconds
        self.clock = None
        self.rates = {}
        self.longest = 0   # s of a gnnc process
        self.turns = options.out + ".turns"
        self.pool = concurrent.futures.ThreadPoolExecutor(options.jobs)

    def left(self):
        return self.end - time.time()

    @contextlib.contextmanager
    def turn(self):
        with open(self.turns, "a") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            yield

    def all(self):
        begun = []
        for name in self.o.graphs:
            if self.left() < 0:
                print("out of time before %s" % name)
                break
            begun += self.on_graph(name)
        concurrent.futures.wait(begun)
        for each in begun:
            each.result()   # raises what it raised
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.turns)

    def on_graph(self, name):
        import numpy as np
        path = graphs.path_of(name, self.o.made, self.o.data)
        with np.load(path) as z:
            rowptr, col = z["rowptr"].astype(np.int32), z["col"].astype(np.int32)
        nodes, edges = len(rowptr) - 1, len(col)
        if not self.record.has(name, None, "graph"):
            self.record.add(name, None, "graph", dict(nodes=nodes, edges=edges, largest_degree=int(np.diff(rowptr).max())))
        chosen = [c for c in cases.select(self.o.family, self.o.ops, self.o.dtypes, self.o.feats)
                  if cases.largest_bytes(c, nodes, edges) <= self.o.most_gib * 2 ** 30]
        begun = self.ours(name, path, chosen) if "ours" in self.o.only else []
        if {"floors", "peers"} & set(self.o.only):
            self.others(name, rowptr, col, chosen)
        return begun

    # ---- gnnc ------------------------------------------------------------------------------------------------

    def ours(self, name, path, chosen):
        """Ops of one file, type and size share a process."""
        together = {}
        for case in chosen:
            if not self.record.has(name, case, "gnnc"):
                together.setdefault((cases.OPS[case.op].file, case.dtype, *cases.defines(case).items()), []).append(case)
        return [self.pool.submit(self.in_time, name, path, file, dtype, sizes, group) for (file, dtype, *sizes), group in together.items()]

    def in_time(self, *bench):
        start = time.time()
        if self.left() > 1.5 * self.longest:
            self.bench(*bench)
            self.longest = max(self.longest, time.time() - start)

    def bench(self, name, path, file, dtype, sizes, group):
        command = [self.o.gnnc, "bench", os.path.join(ROOT, file), "-I", os.path.join(ROOT, "stdlib"), "--graph=" + path, "-D", "T=" + dtype,
                   "--target=" + self.o.target, "--alone=" + self.turns, "--flush", "--seconds=1", "--repeat=%d" % self.o.repeat, "--check-budget=300000", "--json"]
        command += ["--op=" + case.op for case in group] + [x for k, v in sizes for x in ("-D", "%s=%d" % (k, v))]
        start = time.time()
        try:
            r = subprocess.run(command, capture_output=True, text=True, timeout=max(self.left(), 60))
        except subprocess.TimeoutExpired:
            return   # to be tried again
        took = dict(took_s=round((time.time() - start) / len(group), 2))
        rows = {row["op"]: row for row in map(json.loads, r.stdout.splitlines())}
        for case in group:
            row = rows.get("%s_%s" % (case.op, dtype)) or rows.get(case.op) or {"verdict": "failed"}
            fault = next((line for line in r.stderr.splitlines() if "error" in line), "exit status %d" % r.returncode)
            self.record.add(name, case, "gnnc", {**self.ours_row(row, fault), **took})

    @staticmethod
    def ours_row(row, fault):
        if "median_ms" not in row:
            return dict(verdict=row["verdict"], reason=fault[:200])
        empty = {k: row[k] for k in ("empty_cold_ms", "empty_ms", "replay_ms", "empty_replay_ms") if k in row}   # of a GPU
        return dict(cold_ms=row["median_ms"], hot_ms=row["hot_ms"], prepare_ms=row["prepare_ms"], verdict=row["verdict"], plan=row["plan"],
                    compared=row["compared"], copy_bytes_per_s=row["bandwidth_bytes_per_s"], **empty)

    # ---- Others ----------------------------------------------------------------------------------------------

    def others(self, name, rowptr, col, chosen):
        try:
            import torch
        except ImportError as missing:
            print("floors and peers are skipped: %s" % missing)
            return
        import measure
        import peers
        self.clock = self.clock or measure.Clock()
        rowptr, col = (torch.from_numpy(x).to(self.clock.device) for x in (rowptr, col))
        for case in chosen:
            if self.left() < 0:
                return
            try:
                with self.turn():
                    if "floors" in self.o.only and not self.record.has(name, case, "floors"):
                        self.floors(measure, name, case, len(rowptr) - 1, len(col))
                    if "peers" in self.o.only:
                        self.peers_of(measure, peers, name, case, rowptr, col)
                    if self.clock.cuda:
                        torch.cuda.empty_cache()   # gnnc, and others here, need the memory
            except Lost:
                self.begin_again()

    def rate(self, key, make):
        if key not in self.rates:
            self.rates[key] = make()
        return self.rates[key]

    def floors(self, measure, name, case, nodes, edges):
        copy = self.rate("copy", lambda: measure.copy_bandwidth(self.clock))
        row = dict(stream_bytes=cases.stream_bytes(case, nodes, edges), copy_bytes_per_s=copy)
        row["stream_ms"] = row["stream_bytes"] / copy * 1e3
        row["empty_cold_ms"], row["empty_ms"] = self.rate("empty", lambda: measure.empty_times(self.clock))
        if cases.gathers(case):
            try:
                import kernels
                rate = self.rate((nodes, cases.row_bytes(case)), lambda: measure.gather_rate(self.clock, case, nodes, kernels))
                row.update(gather_ms=edges / rate * 1e3, rows_per_s=rate)
            except Exception as fault:   # Triton is not installed, or has no device
                row["reason"] = "no gather floor: %s" % " ".join(str(fault).split())[:120]
        self.record.add(name, case, "floors", row)

    def peers_of(self, measure, peers, name, case, rowptr, col):
        left = [p for p in peers.peers_of(case) if not self.record.has(name, case, p.name)
                and (not self.o.peers or any(word in p.name for word in self.o.peers))]
        try:
            problem = measure.Problem(case, rowptr, col, self.clock.device) if left else None
        except Exception as fault:
            print("%s %s: no peer, %s" % (name, case, peers.reason_of(fault)), flush=True)
            return
        for p in left:
            if self.left() < 0:
                return
            start = time.time()
            row = peers.row_of(self.clock, p, problem)
            self.record.add(name, case, p.name, {**row, "took_s": round(time.time() - start, 2)})
            if row.get("lost"):
                raise Lost

    def begin_again(self):
        """Another process goes on; its turns are not waited for by those of gnnc that run."""
        self.pool.shutdown(cancel_futures=True)
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *sys.argv, "--seconds=%d" % max(self.left(), 0)])


def main():
    Run(parse()).all()


if __name__ == "__main__":
    main()
