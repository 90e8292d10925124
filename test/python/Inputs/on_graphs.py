"""Graphs of NumPy and, where they are installed, of PyTorch, SciPy, NetworkX and PyG. Exit status 1: a test failed."""
import importlib.util
import unittest

import numpy as np

import gnnc

SUM = """
op total<T>(src: E -> U, dst: E -> V sorted, w: T[E], x: T[U, F]) -> (y: T[V, F]) {
    y[v, f] = sum{e : dst[e] == v} w[e] * x[src[e], f];
}
op typed<T>(src: E -> U, dst: E -> V sorted, kind: E -> R, a: T[R], x: T[U, F]) -> (y: T[V, F]) {
    y[v, f] = sum{e : dst[e] == v} a[kind[e]] * x[src[e], f];
}
"""
rng = np.random.default_rng(5)
N, EDGES = 12, 60
SRC, DST = rng.integers(0, N, EDGES), rng.integers(0, N, EDGES)
W = rng.standard_normal(EDGES).astype(np.float32)
X = rng.standard_normal((N, 3)).astype(np.float32)


def dense(src, dst, w, n=N):
    a = np.zeros((n, n))
    np.add.at(a, (dst, src), w)
    return a


def has(module):
    return importlib.util.find_spec(module) is not None


class Graphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = gnnc.compile(SUM, target="host")

    def near(self, y, wanted):
        self.assertLess(np.abs(np.asarray(y) - wanted).max(), 1e-5)

    def test_edges(self):
        g = gnnc.Graph.from_edge_index(np.stack([SRC, DST]), N)
        self.assertTrue((np.diff(g.dst) >= 0).all())
        self.near(self.module.total(g, g.sort(W), X), dense(SRC, DST, W) @ X)
        self.assertEqual((g.edges, g.sources, g.destinations), (EDGES, N, N))
        self.assertIn("60 edges from 12 to 12 nodes", repr(g))
        before = len(self.module.total._plans)
        self.module.total(g, g.sort(W), X)
        self.assertEqual(len(self.module.total._plans), before)   # it is kept

    def test_sorted(self):
        order = np.argsort(DST, kind="stable")
        g = gnnc.Graph.of((SRC[order], DST[order]), N)
        self.assertIsNone(g.order)
        self.near(self.module.total(g, W[order], X), dense(SRC, DST, W) @ X)

    def test_plan(self):
        g = gnnc.Graph.of((SRC, DST), N)
        plan = self.module.total.plan(g, w=g.sort(W), x=X)
        self.near(plan(g.sort(W), X), dense(SRC, DST, W) @ X)

    def test_loops(self):
        g = gnnc.Graph.of((SRC, DST), N, self_loops=True)
        self.assertEqual(g.edges, EDGES + N)
        self.near(self.module.total(g, g.sort(W, loops=2), X), (dense(SRC, DST, W) + 2 * np.eye(N)) @ X)
        with self.assertRaisesRegex(ValueError, "self loops were added"):
            g.sort(W)
        with self.assertRaisesRegex(ValueError, "self loops are of graphs"):
            gnnc.Graph.of((SRC, DST), (N, N + 1), self_loops=True)

    def test_reverse(self):
        g = gnnc.Graph.of((SRC, DST), N)
        back = g.reverse()
        self.near(self.module.total(back, back.sort(g.sort(W)), X), dense(SRC, DST, W).T @ X)

    def test_bipartite(self):
        g = gnnc.Graph.of((SRC, DST % 5), (N, 5))
        y = self.module.total(g, g.sort(W), X)
        self.near(y, dense(SRC, DST % 5, W)[:5] @ X)

    def test_more_maps(self):
        kind, a = rng.integers(0, 4, EDGES), rng.standard_normal(4).astype(np.float32)
        g = gnnc.Graph.of((SRC, DST), N).add("kind", kind, 4)
        self.near(self.module.typed(g, a, X), dense(SRC, DST, a[kind]) @ X)

    def test_empty(self):
        none = np.zeros(0, np.int64)
        g = gnnc.Graph.of((none, none), N)
        self.near(self.module.total(g, np.zeros(0, np.float32), X), 0)

    def test_back(self):
        for loops in (False, True):
            g = gnnc.Graph.of((SRC, DST), N, self_loops=loops)
            self.assertTrue((g.unsort(g.sort(W, loops=0)) == W).all())
        each = rng.standard_normal((N, 2)).astype(np.float32)
        two = np.stack([W, W], 1)
        g = gnnc.Graph.of((SRC, DST), N, self_loops=True)
        added = g.sort(two, loops=each)[g.order >= EDGES]
        self.assertTrue((added == each[g.order[g.order >= EDGES] - EDGES]).all())

    def test_wrong_edges(self):
        both = np.stack([SRC, DST])
        for told, kind, edges, nodes in (
                ("an edge index has two rows, and this has the shape .60, 2.: edge_index.T", ValueError, both.T, N),
                (r"sources\[\d+\] is \d+, and there are 3 nodes", ValueError, both, 3),
                (r"sources\[0\] is -1", ValueError, np.array([[-1], [0]]), N),
                ("sources are of float64", TypeError, both.astype(np.float64), N),
                ("of the same length", ValueError, (SRC, DST[1:]), N)):
            with self.assertRaisesRegex(kind, told):
                gnnc.Graph.of(edges, nodes)
        with self.assertRaisesRegex(ValueError, r"kind\[0\] is 9, and there are 3 nodes"):
            gnnc.Graph.of((SRC, DST), N).add("kind", np.full(EDGES, 9), 3)

    def test_faults(self):
        g = gnnc.Graph.of((SRC, DST), N)
        with self.assertRaisesRegex(ValueError, "there are 60 edges, and 59 values"):
            g.sort(W[1:])
        with self.assertRaisesRegex(gnnc.Error, "dst is declared sorted"):
            self.module.total(SRC, DST, W, X, V=N)
        with self.assertRaisesRegex(TypeError, "the graph has src, dst; the map kind is not among them: graph.add"):
            self.module.typed(g, W[:4], X)
        with self.assertRaisesRegex(TypeError, "the map src has 1 axes .E., and is given 2: gnnc.Graph.of"):
            self.module.total(np.stack([SRC, DST]), DST, W, X)
        with self.assertRaisesRegex(gnnc.Error, "U is 12|U"):
            self.module.total(g, g.sort(W), X[:5])

    @unittest.skipUnless(has("scipy"), "SciPy is not installed")
    def test_scipy(self):
        import scipy.sparse
        m = scipy.sparse.coo_matrix((W, (DST, SRC)), (N, N))
        for matrix in (m, m.tocsr(), m.tocsc()):
            g = gnnc.Graph.of(matrix)
            values = matrix.tocoo().data.astype(np.float32)
            self.near(self.module.total(g, g.sort(values), X), m @ X)

    @unittest.skipUnless(has("networkx") and has("scipy"), "NetworkX or SciPy is not installed")
    def test_networkx(self):
        import networkx
        made = networkx.DiGraph([(0, 1), (2, 1), (1, 0)])
        g = gnnc.Graph.of(made)
        y = self.module.total(g, np.ones(3, np.float32), X[:3])
        self.near(y, np.stack([X[1], X[0] + X[2], 0 * X[0]]))

    @unittest.skipUnless(has("torch"), "PyTorch is not installed")
    def test_torch(self):
        import torch
        edge_index = torch.tensor(np.stack([SRC, DST]))
        g = gnnc.Graph.of(edge_index, N)
        x = torch.tensor(X)
        self.near(self.module.total(g, g.sort(torch.tensor(W)), x), dense(SRC, DST, W) @ X)
        loops = gnnc.Graph.of(edge_index, N, self_loops=True)
        self.near(self.module.total(loops, loops.sort(torch.tensor(W), loops=1.0), x), (dense(SRC, DST, W) + np.eye(N)) @ X)

    @unittest.skipUnless(has("torch_geometric"), "PyG is not installed")
    def test_pyg(self):
        import torch
        from torch_geometric.data import Data
        data = Data(edge_index=torch.tensor(np.stack([SRC, DST])), num_nodes=N)
        g = gnnc.Graph.of(data)
        self.near(self.module.total(g, g.sort(torch.tensor(W)), torch.tensor(X)), dense(SRC, DST, W) @ X)

    @unittest.skipUnless(has("torch_geometric"), "PyG is not installed")
    def test_edges_of_one_kind(self):
        import torch
        from torch_geometric.data import HeteroData
        data = HeteroData()
        data["a"].num_nodes, data["b"].num_nodes = N, N + 2
        data["a", "to", "b"].edge_index = torch.tensor(np.stack([SRC, DST]))
        g = gnnc.Graph.of(data["a", "to", "b"])
        self.assertEqual((g.sources, g.destinations), (N, N + 2))

    @unittest.skipUnless(has("torch"), "PyTorch is not installed")
    def test_sparse_tensors(self):
        import torch
        m = torch.sparse_coo_tensor(torch.tensor(np.stack([DST, SRC])), torch.tensor(W), (N, N)).coalesce()
        for matrix in (m, m.to_sparse_csr(), m.to_sparse_csc()):
            g = gnnc.Graph.of(matrix)
            self.near(self.module.total(g, g.sort(m.values()), torch.tensor(X)), dense(SRC, DST, W) @ X)

    def test_loops_have_means(self):
        """As PyG fills in edge features of self loops."""
        made = [(SRC, DST, W, X)]
        if has("torch"):
            import torch
            made.append([torch.tensor(a) for a in made[0]])
        count = np.bincount(DST, minlength=N)
        means = np.bincount(DST, W, minlength=N) / np.maximum(count, 1)
        for src, dst, w, x in made:
            g = gnnc.Graph.of((src, dst), N, self_loops=True)
            self.near(self.module.total(g, g.sort(w, loops="mean"), x), dense(SRC, DST, W) @ X + means[:, None] * X)
        with self.assertRaisesRegex(ValueError, "sorted edges, and 3 values"):
            g.unsort(w[:3])
        with self.assertRaisesRegex(ValueError, "src is the graph's own"):
            g.add("src", w, 3)
        with self.assertRaisesRegex(TypeError, "this is a str"):
            gnnc.Graph.of("abc", 3)
        with self.assertRaisesRegex(ValueError, "may be a number, an array or 'mean'"):
            g.sort(w, loops="max")


if __name__ == "__main__":
    unittest.main()
