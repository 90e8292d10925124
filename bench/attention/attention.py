#!/usr/bin/env python3
"""Times attention, forward and backward, by gnnc (default schedule) and by others, on the same graphs. Each
time is a line of JSON that is added to --out; what is there already is not timed again, so a run that ends
early goes on where it is called again. report.py prints tables of it.

    attention.py --graphs=arxiv,pattern1024 --shapes=1x128,8x16 --dtypes=f32,f16 --jobs=12 --out=attention.jsonl
    attention.py … --only=peers --seconds=500 --out=attention.jsonl"""

import argparse
import concurrent.futures
import contextlib
import os
import sys
import tempfile
import time

import ops

import graphs  # of the memory-bound family

KEY = ("graph", "op", "dtype", "H", "D", "pass", "who")


def words(text):
    return text.split(",")


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument(
        "--ops",
        type=words,
        default=["gt", "gat", "gatv2", "gatv2_edges", "agnn"],
        help="of " + ", ".join(ops.OPS),
    )
    p.add_argument(
        "--graphs",
        type=words,
        help="of %s, names of files in --data, or generators of gnnc's, such as er:4096:65536; "
        "without, all of --data, or arxiv and pattern1024" % ", ".join(graphs.SPECS),
    )
    p.add_argument(
        "--shapes", type=words, default=list(ops.SHAPES), help="heads x features of each, such as 8x16"
    )
    p.add_argument("--dtypes", type=words, default=list(ops.BYTES), help="f32, f16, bf16")
    p.add_argument(
        "--passes", type=words, default=["forward", "both"], help="forward; both: forward and backward"
    )
    p.add_argument("--only", type=words, default=["ours", "peers"], help="ours, peers")
    p.add_argument("--peers", type=words, help="only those whose names hold one of these")
    p.add_argument("--most-gib", type=float, default=3, help="no case with a larger tensor")
    p.add_argument(
        "--device-gib", type=float, default=56, help="what processes of gnnc take of the device together"
    )
    p.add_argument("--out", default="attention.jsonl")
    p.add_argument("--data", help="folder of .npz graphs (rowptr, col), which go before those made here")
    p.add_argument(
        "--made",
        default=os.path.join(tempfile.gettempdir(), "family-graphs"),
        help="folder of graphs made here",
    )
    p.add_argument(
        "--jobs",
        type=int,
        default=1,
        help="gnnc processes at a time; they take turns at the GPU, but for copies",
    )
    ops.add_options(p)
    o = p.parse_args()
    for given, known, what in (
        (o.ops, ops.OPS, "op"),
        (o.dtypes, ops.BYTES, "type"),
        (o.passes, ("forward", "both"), "pass"),
        (o.only, ("ours", "peers"), "part"),
    ):
        for name in set(given) - set(known):
            p.error("no %s is called %s; there are %s" % (what, name, ", ".join(known)))
    if o.graphs is None:
        files = sorted(f[:-4] for f in os.listdir(o.data) if f.endswith(".npz")) if o.data else ()
        o.graphs = files or ["arxiv", "pattern1024"]
    return o


class Lost(Exception):
    """A peer's fault stays with the device: another process must go on."""


class Run:
    def __init__(self, options):
        self.o, self.record = options, ops.Record(options.out, KEY, options.again)
        self.end = time.time() + options.seconds
        self.turns, self.room = options.out + ".turns", ops.Room(options.device_gib * 2**30)
        self.paths, self.sizes = {}, {}

    def left(self):
        return self.end - time.time()

    def all(self):
        for name in self.o.graphs:
            self.read(name)
        chosen = ops.select(self.o.ops, self.o.dtypes, self.o.shapes)
        if "ours" in self.o.only:
            self.ours(chosen)
        if "peers" in self.o.only:
            self.peers(chosen)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.turns)

    def read(self, name):
        import numpy as np

        if ":" in name:  # gnnc makes it; peers cannot have it
            self.paths[name] = name
            return
        self.paths[name] = path = graphs.path_of(name, self.o.made, self.o.data)
        with np.load(path) as z:
            degree = np.diff(z["rowptr"])
            self.sizes[name] = len(degree), len(z["col"])
        if not self.record.has(graph=name, who="graph"):
            self.record.add(
                graph=name,
                who="graph",
                nodes=len(degree),
                edges=int(degree.sum()),
                largest_degree=int(degree.max()),
            )

    def fits(self, case, name):
        return name not in self.sizes or ops.largest_bytes(case, *self.sizes[name]) <= self.o.most_gib * 2**30

    # ---- gnnc ------------------------------------------------------------------------------------------------

    def ours(self, chosen):
        """Ops of one file, type and shape share a process, and so do the graphs that they are left for."""
        together = {}
        for case in chosen:
            file = ops.OPS[case.op].file, case.op in ("gatv2_edges", "agnn") and case.op
            for name in self.o.graphs:
                left = [
                    p
                    for p in self.o.passes
                    if not self.record.has(graph=name, who="gnnc", **{"pass": p}, **case._asdict())
                ]
                if left and self.fits(case, name):
                    together.setdefault((file, case._replace(op=None), tuple(left), name), []).append(case)
        shared = {}
        for (file, shape, left, name), cases in together.items():
            shared.setdefault((file, shape, left, tuple(cases)), []).append(name)
        with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
            begun = [
                pool.submit(self.in_room, file[0], left, cases, names)
                for (file, _, left, cases), names in shared.items()
            ]
            for each in concurrent.futures.as_completed(begun):
                each.result()  # raises what it raised

    def in_room(self, file, passes, cases, names):
        """Inputs, results and gradients, once more for what is compared."""
        bytes_ = max(
            (4 * ops.input_bytes(c, *self.sizes[n]) for c in cases for n in names if n in self.sizes),
            default=2**30,
        )
        took = self.room.take(bytes_)
        try:
            if self.left() > 0:
                self.bench(file, passes, cases, names)
        finally:
            self.room.give(took)

    def bench(self, file, passes, cases, names):
        by_name = {ops.OPS[c.op].name + ops.TIMED[p]: (c, p) for c in cases for p in passes}
        more = ["--with-forward"] if "both" in passes else []
        by_path = {self.paths[n]: n for n in names}
        alone = []  # that a process of several did not come to, or could not compile

        def told(name, path, row):
            case, which = by_name[name]
            if row["verdict"] == "failed" and len(by_name) > 1:
                alone.append((name, path))
            else:
                self.record.add(graph=by_path[path], **case._asdict(), **{"pass": which}, who="gnnc", **row)

        ops.bench(
            self.o, file, list(by_name), cases[0], list(by_path), self.turns, self.left(), told, more=more
        )
        for name, path in alone:
            if self.left() > 0:
                case, which = by_name[name]
                self.bench(file, [which], [case], [by_path[path]])

    # ---- Others ----------------------------------------------------------------------------------------------

    def peers(self, chosen):
        try:
            import torch
        except ImportError as missing:
            print("peers are skipped: %s" % missing)
            return
        import measure
        import numpy as np
        import peers

        clock = measure.Clock()
        for name in self.o.graphs:
            if ":" in name:
                continue
            with np.load(self.paths[name]) as z:
                rowptr, col = (
                    torch.from_numpy(z[k].astype(np.int32)).to(clock.device) for k in ("rowptr", "col")
                )
            batch = graphs.SPECS[name][1] if graphs.SPECS.get(name, (None,))[0] == "batch" else None
            for case in chosen:
                if self.fits(case, name):
                    self.peers_of(
                        clock, peers, name, case, rowptr, col, batch and (batch["graphs"], batch["nodes"])
                    )
                if self.left() < 0:
                    return

    def peers_of(self, clock, peers, name, case, rowptr, col, batch):
        labels = dict(graph=name, **case._asdict())
        left = [
            (p, which)
            for which in self.o.passes
            for p in peers.peers_of(case, which, batch)
            if not self.record.has(who=p.name, **{"pass": which}, **labels)
            and (not self.o.peers or any(word in p.name for word in self.o.peers))
        ]
        try:
            problem = peers.Problem(case, rowptr, col, batch, clock.device) if left else None
        except Exception as fault:
            print("%s %s: no peer, %s" % (name, case, peers.reason_of(fault)), flush=True)
            return
        for p, which in left:
            if self.left() < 0:
                return
            start = time.time()
            row = peers.row_of(clock, p, problem, which)
            lost = row.pop("lost", False)
            self.record.add(
                **labels, **{"pass": which}, who=p.name, **row, took_s=round(time.time() - start, 2)
            )
            if lost:
                raise Lost


def main():
    run = Run(parse())
    try:
        run.all()
    except Lost:
        sys.stdout.flush()
        os.execv(
            sys.executable, [sys.executable, *sys.argv, "--only=peers", "--seconds=%d" % max(run.left(), 0)]
        )


if __name__ == "__main__":
    main()
