"""gnnc.dgl beside PyTorch's functions. Exit status 1: a test failed. DGL itself is not needed: a graph is what has its methods."""
import unittest

import torch

import gnnc
import gnnc.dgl as ops

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
U, V, E = 9, 7, 40


class Graph:
    """What gnnc.dgl asks of a graph of DGL."""

    def __init__(self, src, dst):
        self._graph, self.ends = object(), (src, dst)

    def edges(self):
        return self.ends

    def num_src_nodes(self):
        return U

    def num_dst_nodes(self):
        return V


def broadcast(a, b):
    """As DGL: axes of one element behind the first."""
    a = a.reshape(a.shape[0], *[1] * (b.dim() - a.dim()), *a.shape[1:])
    return a, b.reshape(b.shape[0], *[1] * (a.dim() - b.dim()), *b.shape[1:])


def joined(op, a, b):
    a, b = broadcast(a, b)
    return {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b}[op] if op != "dot" else (a * b).sum(-1, keepdim=True)


class Functions(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)
        self.src, self.dst = torch.randint(0, U, (E,), device=DEVICE), torch.randint(0, V - 1, (E,), device=DEVICE)
        self.graph = Graph(self.src, self.dst)

    def tensor(self, n, *shape):
        return (torch.rand(n, *shape, device=DEVICE, dtype=torch.float64) + 0.5).requires_grad_()

    def reduced(self, m, how):
        rows = [m[self.dst == v] for v in range(V)]
        make = {"sum": lambda r: r.sum(0), "mean": lambda r: r.mean(0), "max": lambda r: r.amax(0), "min": lambda r: r.amin(0)}[how]
        return torch.stack([make(r) if len(r) else torch.zeros_like(m[0]) for r in rows])

    def same(self, made, expected, *wanted):
        self.assertEqual(made.shape, expected.shape)
        self.assertLess((made - expected).abs().max().item(), 1e-12)
        d = torch.cos(torch.arange(made.numel(), device=DEVICE, dtype=made.dtype)).view_as(made)
        for a, b in zip(torch.autograd.grad(made, wanted, d), torch.autograd.grad(expected, wanted, d)):
            self.assertLess((a - b).abs().max().item(), 1e-12)

    def test_gspmm(self):
        for op in ("add", "sub", "mul", "div"):
            for how in ("sum", "mean", "max", "min"):
                for xs, ws in (((4,), (4,)), ((2, 3), (2, 1)), ((2, 3), (3,)), ((4,), (1,)), ((), ())):
                    x, w = self.tensor(U, *xs), self.tensor(E, *ws)
                    with self.subTest(op=op, how=how, x=xs, w=ws):
                        self.same(ops.gspmm(self.graph, op, how, x, w), self.reduced(joined(op, x[self.src], w), how), x, w)
        x, w = self.tensor(U, 3), self.tensor(E, 3)
        self.same(ops.copy_u_sum(self.graph, x), self.reduced(x[self.src], "sum"), x)
        self.same(ops.copy_e_max(self.graph, w), self.reduced(w, "max"), w)
        self.same(ops.u_mul_e_mean(self.graph, x, w), self.reduced(x[self.src] * w, "mean"), x, w)

    def test_gsddmm(self):
        x, z, w = self.tensor(U, 2, 3), self.tensor(V, 2, 3), self.tensor(E, 2, 3)
        at = {"u": (x, lambda: x[self.src]), "v": (z, lambda: z[self.dst]), "e": (w, lambda: w)}
        for op in ("add", "sub", "mul", "div", "dot"):
            for a in "uve":
                for b in "uve":
                    if a != b:
                        made = getattr(ops, "%s_%s_%s" % (a, op, b))(self.graph, at[a][0], at[b][0])
                        self.same(made, joined(op, at[a][1](), at[b][1]()), at[a][0], at[b][0])
        self.same(ops.copy_v(self.graph, z), z[self.dst], z)

    def test_edge_softmax(self):
        for by, index, n in (("dst", self.dst, V), ("src", self.src, U)):
            s = self.tensor(E, 3)
            expected = torch.zeros_like(s)
            for v in range(n):
                expected = torch.where((index == v)[:, None], s.masked_fill((index != v)[:, None], -torch.inf).softmax(0), expected)
            self.same(ops.edge_softmax(self.graph, s, norm_by=by), expected, s)

    def test_graphs_of_the_package(self):
        graph = gnnc.Graph.from_edges(self.src, self.dst, (U, V))
        x, w = self.tensor(U, 4), self.tensor(E, 4)
        self.same(ops.u_mul_e_sum(graph, x, graph.sort(w)), self.reduced(x[self.src] * w, "sum"), x, w)

    def test_products_of_segments(self):
        a, b = self.tensor(10, 4), self.tensor(3, 4, 5)
        lengths, kinds = torch.tensor([2, 0, 8]), torch.randint(0, 3, (10,), device=DEVICE)
        self.same(ops.segment_mm(a, b, lengths), torch.cat([p @ m for p, m in zip(a.split([2, 0, 8]), b)]), a, b)
        self.same(ops.gather_mm(a, b, idx_b=kinds), (a.unsqueeze(1) @ b[kinds]).squeeze(1), a, b)

    def test_a_graph_changes(self):
        x = self.tensor(U, 4)
        ops.copy_u_sum(self.graph, x)
        self.dst = self.dst.flip(0)
        self.graph._graph, self.graph.ends = object(), (self.src, self.dst)
        self.same(ops.copy_u_sum(self.graph, x), self.reduced(x[self.src], "sum"), x)

    def test_faults(self):
        x = self.tensor(V, 4)
        with self.assertRaisesRegex(ValueError, "there are 9 sources, and a tensor of the shape"):
            ops.copy_u_sum(self.graph, x)
        with self.assertRaisesRegex(ValueError, "none of add, sub"):
            ops.gspmm(self.graph, "pow", "sum", x, x)
        with self.assertRaisesRegex(TypeError, "a graph of DGL"):
            ops.copy_u_sum(3, x)
        with self.assertRaisesRegex(AttributeError, "no u_pow_e"):
            ops.u_pow_e
        with self.assertRaisesRegex(ValueError, "3 lengths of segments, and 2 matrices"):
            ops.segment_mm(self.tensor(3, 4), self.tensor(2, 4, 4), torch.tensor([1, 1, 1]))


if __name__ == "__main__":
    unittest.main()
