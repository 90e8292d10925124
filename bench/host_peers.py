#!/usr/bin/env python3
"""Times SpMM and a segment sum by SciPy, NumPy and GraphBLAS on this machine, to be put beside `gnnc bench --target=host`.
Usage: host_peers.py GNNC [--graph rmat:18:16] [--features 32,128] [--peers scipy,numpy,graphblas] [--repeat 15] [--threads N]

gnnc itself writes the graph, so both sides see the same edges. Each result is checked against one in f64 on a sample of
rows before it is timed. A peer that is not installed is skipped, and said to be."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

EDGES = """op edges(src: E -> U, dst: E -> V sorted) -> (source: [E] -> U, degree: i64[V]) {
    source[e] = src[e];
    degree[v] = sum{e : dst[e] == v} 1;
}
"""


def load_edges(np, gnnc, graph):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "edges.gnn")
        with open(source, "w") as out:
            out.write(EDGES)
        subprocess.run([gnnc, "run", source, "--graph=" + graph, "--target=host", "--out=" + folder],
                       check=True, stdout=subprocess.DEVNULL)
        return [np.load(os.path.join(folder, "edges.%s.npy" % name)).astype(np.int32) for name in ("source", "degree")]


# ---- Peers: each gives (name, function) pairs, the function computing one of the results ---------------------

def scipy_peers(np, problem):
    import scipy.sparse as sparse
    import scipy
    of_edges = sparse.csr_matrix((problem["w"], problem["src"], problem["rowptr"]), shape=problem["shape"])
    of_segments = sparse.csr_matrix((np.ones(problem["edges"], np.float32), np.arange(problem["edges"], dtype=np.int32),
                                     problem["rowptr"]), shape=(problem["shape"][0], problem["edges"]))
    name = "scipy " + scipy.__version__
    yield name, "spmm", 1, lambda: of_edges @ problem["x"]
    yield name + " (matrix of ones)", "segment_sum", 1, lambda: of_segments @ problem["m"]


def numpy_peers(np, problem):
    starts, filled = problem["rowptr"][:-1], np.diff(problem["rowptr"]) > 0
    out = np.zeros(problem["y_shape"], np.float32)

    def segment_sum():   # reduceat gives a neighbour's value to an empty segment
        out[filled] = np.add.reduceat(problem["m"], starts[filled], axis=0)
        return out
    yield "numpy %s (add.reduceat)" % np.__version__, "segment_sum", 1, segment_sum


def graphblas_peers(np, problem):
    import graphblas as gb
    gb.init("suitesparse", blocking=True)
    gb.ss.config["nthreads"] = problem["threads"]
    library = "graphblas " + ".".join(str(n) for n in gb.ss.about["library_version"])
    rows, columns = problem["shape"]
    a = gb.Matrix.ss.import_csr(nrows=rows, ncols=columns, indptr=problem["rowptr"].astype(np.uint64), values=problem["w"].copy(),
                                col_indices=problem["src"].astype(np.uint64), sorted_cols=False)
    x = gb.Matrix.ss.import_fullr(values=problem["x"].copy())
    ones = gb.Matrix.ss.import_csr(nrows=rows, ncols=problem["edges"], indptr=problem["rowptr"].astype(np.uint64),
                                   values=np.ones(1, np.float32), is_iso=True, sorted_cols=True,
                                   col_indices=np.arange(problem["edges"], dtype=np.uint64))
    m = gb.Matrix.ss.import_fullr(values=problem["m"])

    y = gb.Matrix.ss.import_fullr(values=np.zeros(problem["y_shape"], np.float32))

    def product(left, right, semiring):   # adding to a full matrix is its quickest form of sparse by dense
        y[:, :] = 0
        y(gb.binary.plus) << semiring(left @ right)
        return y
    yield library, "spmm", problem["threads"], lambda: product(a, x, gb.semiring.plus_times)
    yield library + " (matrix of ones)", "segment_sum", problem["threads"], lambda: product(ones, m, gb.semiring.plus_second)


PEERS = {"scipy": scipy_peers, "numpy": numpy_peers, "graphblas": graphblas_peers}


# ---- Measuring -----------------------------------------------------------------------------------------------

def dense(np, result):
    return result if isinstance(result, np.ndarray) else result.to_dense(fill_value=0)


def right(np, problem, op, result):
    got = dense(np, result)
    for row in np.linspace(0, problem["shape"][0] - 1, 200).astype(int):
        a, b = problem["rowptr"][row], problem["rowptr"][row + 1]
        terms = (problem["m"][a:b].astype(np.float64) if op == "segment_sum" else
                 problem["w"][a:b, None].astype(np.float64) * problem["x"][problem["src"][a:b]])
        bound = (b - a + 2) * 2.0 ** -24 * np.abs(terms).sum(axis=0)   # any order of summation
        if not (np.abs(got[row] - terms.sum(axis=0)) <= bound).all():
            return False
    return True


def measure(np, function, repeat):
    function()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        times.append((time.perf_counter() - start) * 1e3)
    return float(np.median(times)), min(times)


def make_problem(np, source, degree, features, threads):
    sources = max(len(degree), int(source.max(initial=-1)) + 1)
    random = np.random.default_rng(0)
    return {"src": source, "rowptr": np.concatenate([[0], degree.cumsum()]).astype(np.int32),
            "shape": (len(degree), sources), "edges": len(source), "threads": threads, "y_shape": (len(degree), features),
            "w": random.standard_normal(len(source), dtype=np.float32),
            "x": random.standard_normal((sources, features), dtype=np.float32),
            "m": random.standard_normal((len(source), features), dtype=np.float32)}


def rows_of(np, problem, peers, repeat):
    for peer in peers:
        try:
            for name, op, threads, function in PEERS[peer](np, problem):
                verdict = "right" if right(np, problem, op, function()) else "WRONG"
                yield (name, op, problem["x"].shape[1], threads) + measure(np, function, repeat) + (verdict,)
        except ImportError as missing:
            print("%s: skipped: %s" % (peer, missing), file=sys.stderr)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("gnnc")
    options.add_argument("--graph", default="rmat:18:16")
    options.add_argument("--features", default="32,128")
    options.add_argument("--peers", default=",".join(PEERS))
    options.add_argument("--repeat", type=int, default=15)
    options.add_argument("--threads", type=int, default=os.cpu_count(), help="of GraphBLAS; the others have one")
    o = options.parse_args()
    unknown = set(o.peers.split(",")) - set(PEERS)
    if unknown:
        options.error("no peer is called %s; there are %s" % (", ".join(unknown), ", ".join(PEERS)))
    try:
        import numpy as np
    except ImportError:
        print("numpy is not installed: every peer needs it", file=sys.stderr)
        return 0
    source, degree = load_edges(np, o.gnnc, o.graph)
    line = "%-38s %-12s %5s %8s %12s %12s  %s"
    print(line % ("peer", "op", "F", "threads", "median ms", "fastest ms", "verdict"))
    wrong = False
    for features in map(int, o.features.split(",")):
        problem = make_problem(np, source, degree, features, o.threads)
        for row in rows_of(np, problem, o.peers.split(","), o.repeat):
            print(line % (row[:4] + ("%.3f" % row[4], "%.3f" % row[5], row[6])), flush=True)
            wrong |= row[6] != "right"
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
