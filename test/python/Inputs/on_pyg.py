"""PyG's layers by gnnc.pyg beside PyG's own. Exit status 1: a test failed. On a GPU where there is one, else on the host."""
import copy
import gc
import io
import itertools
import pickle
import threading
import unittest
import warnings
import weakref

import torch
import torch_geometric.nn as nn
from torch_geometric.utils import to_torch_coo_tensor, to_torch_csr_tensor

import gnnc.pyg
from gnnc import _edge_indexes, _made_once, lazy

numbers = itertools.count()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
N, E, F = 20, 90, 8


def mlp(*widths):
    return torch.nn.Sequential(*[m for a, b in zip(widths, widths[1:]) for m in (torch.nn.Linear(a, b), torch.nn.Tanh())][:-1])


def layers():
    """A layer, and arguments that it takes besides x and the edge index."""
    weight, attr = {"edge_weight": (E,)}, {"edge_attr": (E, 3)}
    histogram = torch.tensor([1, 2, 4, 6, 5, 2])
    return [
        (nn.SimpleConv(), {}), (nn.GCNConv(F, 6), {}), (nn.GCNConv(F, 6), weight), (nn.ChebConv(F, 6, 3), {}), (nn.SAGEConv(F, 6), {}),
        (nn.SAGEConv(F, 6, aggr="max"), {}), (nn.SAGEConv(F, 6, aggr=["min", "std", "mul"]), {}), (nn.SAGEConv(F, 6, "softmax"), {}),
        (nn.GraphConv(F, 6), weight), (nn.GatedGraphConv(F, 2), {}), (nn.ResGatedGraphConv(F, 6), {}), (nn.GATConv(F, 3, 2), {}),
        (nn.GATConv(F, 3, 2, edge_dim=3), attr), (nn.GATv2Conv(F, 3, 2, edge_dim=3), attr), (nn.TransformerConv(F, 3, 2, edge_dim=3), attr),
        (nn.AGNNConv(), {}), (nn.TAGConv(F, 6), {}), (nn.GINConv(mlp(F, 6, 6)), {}), (nn.GINEConv(mlp(F, 6), edge_dim=3), attr),
        (nn.ARMAConv(F, 6, 2, 2), {}), (nn.SGConv(F, 6, 2), {}), (nn.SSGConv(F, 6, 0.1, 3), {}), (nn.APPNP(3, 0.1), {}), (nn.MFConv(F, 6), {}),
        (nn.RGCNConv(F, 6, 4), {"edge_type": 4}), (nn.RGATConv(F, 3, 4, heads=2), {"edge_type": 4}), (nn.GMMConv(F, 6, 3, 2), attr),
        (nn.NNConv(F, 6, mlp(3, F * 6)), attr), (nn.CGConv(F, 3), attr), (nn.EdgeConv(mlp(2 * F, 6)), {}), (nn.FeaStConv(F, 6, 2), {}),
        (nn.LEConv(F, 6), {}), (nn.PNAConv(F, 6, ["mean", "max", "std"], ["identity", "attenuation"], histogram, 3), attr),
        (nn.ClusterGCNConv(F, 6), {}), (nn.GENConv(F, 6), {}), (nn.GCN2Conv(F, 0.1, 0.5, 1), {"x_0": (N, F)}), (nn.FiLMConv(F, 6), {}),
        (nn.SuperGATConv(F, 3, 2), {}), (nn.FAConv(F), {"x_0": (N, F)}), (nn.EGConv(F, 6, ["sum", "max"], 2, 2), {}), (nn.PDNConv(F, 6, 3, 4), attr),
        (nn.GeneralConv(F, 6, 3, attention=True, heads=2), attr), (nn.LGConv(), {}), (nn.MixHopConv(F, 6), {}), (nn.WLConvContinuous(), {}),
        (nn.HypergraphConv(F, 6), {}), (nn.SAGEConv(F, 6, flow="target_to_source"), {}), (nn.GraphConv(F, 6, "min", node_dim=-2), weight),
    ]


def graph(nodes=N, edges=E):
    return torch.randint(0, nodes, (2, edges), device=DEVICE)


def outcome(layer, x, edges, more):
    """Results and all gradients."""
    torch.manual_seed(5)   # what a layer draws
    x = x.clone().requires_grad_()
    if "x_0" in more:
        y = layer(x, more["x_0"], edges)
    else:
        y = layer(x, edges, **more)
    wanted = [x, *[p for p in layer.parameters() if p.requires_grad], *[t for t in more.values() if t.requires_grad]]
    gradients = torch.autograd.grad(y, wanted, torch.cos(torch.arange(y.numel(), device=DEVICE).to(y)).view_as(y), allow_unused=True)
    return [y, *[g if g is not None else torch.zeros(()) for g in gradients]]


class Base(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)
        warnings.simplefilter("ignore", lazy.SlowPath)
        self.x, self.edges = torch.randn(N, F, device=DEVICE), graph()

    def pair(self, layer):
        layer = layer.to(DEVICE)
        return layer, gnnc.pyg.accelerate(copy.deepcopy(layer))

    def near(self, a, b, bound=1e-5):
        self.assertEqual(a.shape, b.shape)
        self.assertEqual(a.dtype, b.dtype)
        if b.numel():
            self.assertLessEqual(((a - b).abs().max() / b.abs().max().clamp(min=1)).item(), bound)


class Numbers(Base):
    def test_layers(self):
        """Twice each, with other values the second time: the first call is noted, the second one taken from there."""
        for layer, takes in layers():
            theirs, ours = self.pair(layer)
            self.assertEqual(repr(theirs), repr(ours))
            for _ in range(2):
                x = torch.randn(N, F, device=DEVICE)
                more = {n: torch.randint(0, s, (E,), device=DEVICE) if isinstance(s, int) else torch.rand(s, device=DEVICE).requires_grad_()
                        for n, s in takes.items()}
                with self.subTest(layer=repr(theirs), takes=tuple(takes)):
                    for a, b in zip(outcome(ours, x, self.edges, more), outcome(theirs, x, self.edges, more)):
                        self.near(a, b)

    def test_types(self):
        for dtype, bound in ((torch.float64, 1e-12), (torch.float16, 1e-2), (torch.bfloat16, 1e-1)):
            theirs, ours = self.pair(nn.GATv2Conv(F, 3, 2).to(dtype))
            self.near(ours(self.x.to(dtype), self.edges), theirs(self.x.to(dtype), self.edges), bound)

    def test_indexes(self):
        theirs, ours = self.pair(nn.SAGEConv(F, 6))
        expected = theirs(self.x, self.edges)
        sorted_ = self.edges[:, self.edges[1].argsort(stable=True)]
        strided = self.edges.t().contiguous().t()
        for edges in (self.edges.int(), sorted_, strided, self.edges.repeat_interleave(2, 1)[:, ::2]):
            self.near(ours(self.x, edges), expected)

    def test_attention_weights(self):
        theirs, ours = self.pair(nn.GATConv(F, 3, 2))
        y, (edges, alpha) = ours(self.x, self.edges, return_attention_weights=True)
        y2, (edges2, alpha2) = theirs(self.x, self.edges, return_attention_weights=True)
        self.assertTrue(torch.equal(edges, edges2))
        self.assertIs(type(alpha), torch.Tensor)
        self.near(alpha, alpha2)
        self.near(y, y2)

    def test_attributes_of_messages(self):
        """Some layers leave attention in an attribute."""
        theirs, ours = self.pair(nn.TransformerConv(F, 3, 2))
        for _ in range(2):
            x = torch.randn(N, F, device=DEVICE)
            _, (_, alpha) = ours(x, self.edges, return_attention_weights=True)
            self.near(alpha, theirs(x, self.edges, return_attention_weights=True)[1][1])

    def test_dropout(self):
        """PyTorch draws the same numbers."""
        theirs, ours = self.pair(nn.GATConv(F, 3, 2, dropout=0.5))
        for _ in range(2):
            made = []
            for layer in (theirs, ours):
                torch.manual_seed(11)
                made.append(layer(self.x, self.edges))
            self.near(made[1], made[0])
        self.assertFalse(torch.equal(ours(self.x, self.edges), ours(self.x, self.edges)))
        self.assertTrue(torch.equal(ours.eval()(self.x, self.edges), ours(self.x, self.edges)))

    def test_ties(self):
        """Equal maxima share their gradient, as PyTorch's do."""
        theirs, ours = self.pair(nn.SAGEConv(F, 6, aggr="max"))
        x = torch.randint(1, 3, (N, F), device=DEVICE).float()
        for a, b in zip(outcome(ours, x, self.edges, {}), outcome(theirs, x, self.edges, {})):
            self.near(a, b)

    def test_second_gradients(self):
        theirs, ours = self.pair(nn.GATv2Conv(F, 3, 2).double())
        made = []
        for layer in (theirs, ours):
            x = self.x.double().requires_grad_()
            g, = torch.autograd.grad(layer(x, self.edges).pow(2).sum(), x, create_graph=True)
            made.append(torch.autograd.grad(g.pow(2).sum(), [x, layer.att, layer.lin_l.weight]))
        for a, b in zip(*made[::-1]):
            self.near(a, b, 1e-9)

    def test_autocast(self):
        theirs, ours = self.pair(nn.GATv2Conv(F, 3, 2))
        with torch.autocast(DEVICE, torch.bfloat16):
            a, b = ours(self.x, self.edges), theirs(self.x, self.edges)
        self.near(a, b, 5e-2)


class Graphs(Base):
    def test_bipartite(self):
        edges = torch.stack([torch.randint(0, 7, (E,)), torch.randint(0, 5, (E,))]).to(DEVICE)
        x = torch.randn(7, F, device=DEVICE), torch.randn(5, F, device=DEVICE)
        for layer in (nn.SAGEConv((F, F), 6), nn.GATv2Conv((F, F), 3, 2, add_self_loops=False), nn.TransformerConv((F, F), 3)):
            theirs, ours = self.pair(layer)
            self.near(ours(x, edges), theirs(x, edges))
        theirs, ours = self.pair(nn.SAGEConv((F, F), 6, root_weight=False))
        self.near(ours((x[0], None), edges, size=(7, 9)), theirs((x[0], None), edges, size=(7, 9)))

    def test_empty(self):
        for layer in (nn.GCNConv(F, 6), nn.GATConv(F, 3, 2), nn.SAGEConv(F, 6, aggr="max"), nn.EdgeConv(mlp(2 * F, 6))):
            theirs, ours = self.pair(layer)
            for nodes, edges in ((N, 0), (1, 1), (1, 0)):
                x, index = torch.randn(nodes, F, device=DEVICE), graph(nodes, edges)
                for a, b in zip(outcome(ours, x, index, {}), outcome(theirs, x, index, {})):
                    self.near(a, b)

    def test_sizes_that_coincide(self):
        """As many edges as nodes, features and heads."""
        index, x = graph(F, F), torch.randn(F, F, device=DEVICE)
        for layer in (nn.GATConv(F, F, F, add_self_loops=False), nn.TransformerConv(F, F, F), nn.GMMConv(F, F, F, F), nn.FeaStConv(F, F, F)):
            theirs, ours = self.pair(layer)
            more = {"edge_attr": torch.rand(F, F, device=DEVICE)} if isinstance(layer, nn.GMMConv) else {}
            for a, b in zip(outcome(ours, x, index, more), outcome(theirs, x, index, more)):
                self.near(a, b)

    def test_static(self):
        """Several tensors of features on one graph."""
        theirs, ours = self.pair(nn.GCNConv(F, 6))
        x = torch.randn(3, N, F, device=DEVICE)
        self.near(ours(x, self.edges), theirs(x, self.edges))

    def test_sparse(self):
        for make in (to_torch_coo_tensor, to_torch_csr_tensor):
            adj = make(self.edges.unique(dim=1), size=(N, N)).transpose(0, 1)
            adj = adj.coalesce() if make is to_torch_coo_tensor else adj.to_sparse_csr()
            for layer in (nn.GCNConv(F, 6), nn.SAGEConv(F, 6), nn.TransformerConv(F, 3, 2), nn.GATConv(F, 3, 2, add_self_loops=False)):
                theirs, ours = self.pair(layer)
                self.near(ours(self.x, adj), theirs(self.x, adj))

    def test_edges_change_in_place(self):
        theirs, ours = self.pair(nn.GATConv(F, 3, 2))
        ours(self.x, self.edges)
        self.edges[:, 0] = (self.edges[:, 0] + 1) % N
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_wrong_edges(self):
        theirs, ours = self.pair(nn.SAGEConv(F, 6))
        for value in (N, -1):
            wrong = self.edges.clone()
            wrong[0, 7] = value
            with self.assertRaisesRegex((IndexError, gnnc.Error), str(value)):
                ours(self.x, wrong)
            with self.assertRaises(IndexError):
                ours(self.x, wrong)
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_what_is_made_once_is_of_its_arguments(self):
        for name, takes in (("gcn_norm", ((None, None, True), (None, N, True), (None, N, False), (None, N + 1, False, False), (None, N, True, False))),
                            ("add_self_loops", ((), (None, 2.0), (None, None, N + 2), (None, 1.0, N + 2))),
                            ("add_remaining_self_loops", ((None, 1.0, N), (None, 1.0, N + 3))),
                            ("get_laplacian", ((None, "sym"), (None, "rw"), (None, None)))):
            kept = _made_once._kept[name]
            for _ in range(2):
                for args in takes:
                    for a, b in zip(kept(self.edges, *args), kept.run(self.edges, *args)):
                        self.assertTrue(a is b is None or torch.equal(a, b), (name, args))

    def test_gradients_to_be_differentiated(self):
        """The first one is the same with create_graph, where arguments of an op are made of one another."""
        theirs, ours = self.pair(nn.GATConv(F, 3, 2).double())
        x = self.x.double().requires_grad_()
        for of in (theirs, ours):
            y = of(x, self.edges).square().sum()
            plain, = torch.autograd.grad(y, x, retain_graph=True)
            again, = torch.autograd.grad(y, x, create_graph=True)
            torch.testing.assert_close(plain, again)

    def test_autocast_to_one_type_and_another(self):
        theirs, ours = self.pair(nn.EdgeConv(torch.nn.Sequential(torch.nn.Linear(2 * F, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))))
        for dtype in (torch.bfloat16, torch.float16, torch.bfloat16):
            with torch.no_grad(), torch.autocast(DEVICE, dtype):
                a, b = ours(self.x, self.edges), theirs(self.x, self.edges)
            self.assertEqual(a.dtype, b.dtype)
            torch.testing.assert_close(a.float(), b.float(), rtol=2e-2, atol=2e-2)

    def test_masked_edges(self):
        """Edges of an equal mask are the same tensor; of changed ones they are made anew."""
        kept, types = _made_once._kept["masked_edge_index"], torch.arange(E, device=DEVICE) % 3
        edges = graph().clone()
        out = [kept(edges, types == k) for k in range(3)]
        for k in range(3):
            self.assertTrue(kept(edges, types == k) is out[k] and torch.equal(out[k], edges[:, types == k]))
        out[1][0, 0] = 7   # whoever got it wrote in it
        self.assertTrue(torch.equal(kept(edges, types == 1), edges[:, types == 1]))
        edges[0, 0] = (edges[0, 0] + 1) % N
        self.assertTrue(torch.equal(kept(edges, types == 0), edges[:, types == 0]))
        self.assertIsNot(kept(edges, types == 0), out[0])
        del edges
        gc.collect()
        self.assertEqual(len(kept.results), 0)

    def test_edges_that_change(self):
        """Edges that are others at each pass are not sorted, unless they come again."""
        _, ours = self.pair(nn.GAT(F, 8, 2, heads=2))
        made = []

        class Counted(_edge_indexes._Sorted):
            def __init__(self, *args):
                made.append(self)
                super().__init__(*args)
        _edge_indexes._Sorted, kept, much = Counted, _edge_indexes._Sorted, _edge_indexes._MUCH
        try:
            batches = [graph(N, E + k) for k in range(12)]
            for edges in batches:
                ours(self.x, edges)
            self.assertEqual(len(made), _edge_indexes._FRESH)
            for edges in batches[6:]:
                ours(self.x, edges)
            self.assertEqual(len(made), _edge_indexes._FRESH + 6)
            for edges in batches[6:]:   # known by now
                ours(self.x, edges.clone())
            self.assertEqual(len(made), _edge_indexes._FRESH + 6)
            _edge_indexes._MUCH = {DEVICE: E * 2 * F}   # what two layers of two heads do is more
            ours(self.x, graph(N, E + 20))
            self.assertEqual(len(made), _edge_indexes._FRESH + 7)
        finally:
            _edge_indexes._Sorted, _edge_indexes._MUCH = kept, much

    def test_what_is_kept_goes(self):
        """No graph but those used last is kept, and few of tensors that are gone."""
        _, ours = self.pair(nn.SAGEConv(F, 3))
        again = graph(N, E + 1)
        for _ in range(2):
            ours(self.x, again.clone())
        for _ in range(_edge_indexes._GRAPHS // 2):
            _edge_indexes.of(graph(), 0)
        self.assertIsNotNone(_edge_indexes._graphs.known(again, 0))
        _, ours = self.pair(nn.GATConv(F, 3, 2))
        for _ in range(3 * _edge_indexes._GRAPHS):
            ours(self.x, graph())
        gc.collect()
        self.assertLessEqual(len([g for g in _edge_indexes._graphs.kept.values() if not g.alive and not g.is_again]), _edge_indexes._GONE + 2)
        self.assertLessEqual(len(_edge_indexes._graphs.seen), 6)
        self.assertLessEqual(sum(len(k.results) for k in _made_once._kept.values()), 6)


class Gate(nn.MessagePassing):
    """A layer of one's own."""

    def __init__(self, slope=0.2):
        super().__init__(aggr="add")
        self.slope, self.lin = slope, torch.nn.Linear(F, F)
        self.bounds = [0.0, 1.0]

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=self.lin(x))

    def message(self, x_i, x_j):
        low, high = self.bounds
        gate = torch.where(x_i > 0, x_j.clamp(low, high), self.slope * x_j).sigmoid() * 2
        gate += 0.5
        return gate * x_j + torch.logsumexp(x_j, dim=-1, keepdim=True)

    def update(self, inputs):
        return inputs.relu_()


class Writes(nn.MessagePassing):
    """One that writes through a view."""

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)

    def message(self, x_j):
        a = x_j * 2
        a.view(-1, 2, F // 2)[:, 0].zero_()
        return a


class Own(Base):
    def test_own_layer(self):
        theirs, ours = self.pair(Gate())
        for a, b in zip(outcome(ours, self.x, self.edges, {}), outcome(theirs, self.x, self.edges, {})):
            self.near(a, b)

    def test_attributes_change(self):
        """Also of a kind that nobody counts."""
        theirs, ours = self.pair(Gate())
        ours(self.x, self.edges)
        for layer in (theirs, ours):
            layer.slope = 3.0
            layer.bounds[1] = 0.25
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))
        theirs, ours = self.pair(nn.GATConv(F, 3, 2))
        ours(self.x, self.edges)
        theirs.negative_slope = ours.negative_slope = 0.7
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))
        theirs, ours = self.pair(nn.GENConv(F, 6))
        ours(self.x, self.edges)
        for layer in (theirs, ours):
            layer.aggr_module.t = 2.5
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_writes_through_views(self):
        theirs, ours = self.pair(Writes())
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_writes_beside_propagate(self):
        """Through a view of what edge_updater gave."""

        class Twice(nn.MessagePassing):
            def forward(self, x, edge_index):
                w = self.edge_updater(edge_index, x=x)
                w.view(-1)[:5].mul_(3)
                return self.propagate(edge_index, x=x, w=w)

            def edge_update(self, x_i, x_j):
                return (x_i * x_j).sum(-1, keepdim=True)

            def message(self, x_j, w):
                return x_j * w
        theirs, ours = self.pair(named(Twice)())
        for a, b in zip(outcome(ours, self.x, self.edges, {}), outcome(theirs, self.x, self.edges, {})):
            self.near(a, b)

    def test_writes_between(self):
        """Of a tensor that messages read before: refused, as they are not computed yet."""

        class Counts(nn.MessagePassing):
            def __init__(self):
                super().__init__()
                self.register_buffer("scale", torch.ones(F))

            def forward(self, x, edge_index):
                return self.propagate(edge_index, x=x)

            def message(self, x_j):
                made = x_j * self.scale
                self.scale.add_(1)
                return made
        theirs, ours = self.pair(named(Counts)())
        theirs(self.x, self.edges)
        with self.assertRaisesRegex(RuntimeError, "was written after messages read it"):
            ours(self.x, self.edges)

    def test_models(self):
        theirs, ours = self.pair(nn.GAT(F, 8, 2, heads=2))
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))
        self.assertIsInstance(ours.convs[0], nn.GATConv)
        made = gnnc.pyg.GATConv(F, 3, heads=2).to(DEVICE)
        self.assertIs(type(made), gnnc.pyg.accelerated(nn.GATConv))
        with self.assertRaisesRegex(AttributeError, "no Linear"):
            gnnc.pyg.Linear
        with self.assertRaisesRegex(AttributeError, "did you mean GATConv"):
            gnnc.pyg.GatConv
        with self.assertRaisesRegex(TypeError, "a torch.nn.Module is wanted"):
            gnnc.pyg.accelerate("GATConv")
        self.assertIn("no layer of this module is accelerated", gnnc.pyg.explain(torch.nn.ReLU(), self.x))
        with self.assertRaisesRegex(TypeError, "no subclass"):
            gnnc.pyg.accelerated(torch.nn.Linear)


def named(cls):
    """PyG writes a method for each name of a class."""
    cls.__name__ = "Made%d" % next(numbers)
    return cls


def message(run, **kwargs):
    """A layer of one's own with this message of x_i and x_j."""

    class Made(nn.MessagePassing):
        def forward(self, x, edge_index):
            return self.propagate(edge_index, x=x)

        def message(self, x_i, x_j):
            return run(x_i, x_j)
    return named(Made)(**kwargs)


def without_gradient(x_i, x_j):
    with torch.no_grad():
        w = x_i.tanh()
    return x_j * w


def written_through_a_view(x_i, x_j):
    z = torch.zeros_like(x_j)
    v = z[:, :2]
    v += 1
    return z + x_j


def written_after_expanding(x_i, x_j):
    z = x_j.new_ones(x_j.size(0), 1)
    v = z.expand(-1, x_j.size(1))
    z.mul_(3)
    return v + x_j


class Messages(Base):
    """Of messages that a tester found wrong."""

    def same(self, layer, bound=1e-5):
        theirs, ours = self.pair(layer)
        for a, b in zip(outcome(ours, self.x, self.edges, {}), outcome(theirs, self.x, self.edges, {})):
            self.near(a, b, bound)

    def test_gradients_are_switched_off(self):
        self.same(message(without_gradient))
        theirs, ours = self.pair(message(without_gradient))
        made = []
        for layer in (theirs, ours):
            x = self.x.clone().requires_grad_(), self.x[:N].clone().requires_grad_()
            made.append(torch.autograd.grad(layer(x, self.edges).sum(), x, allow_unused=True))
        self.near(made[1][0], made[0][0])
        self.assertIsNone(made[1][1])
        self.same(nn.SAGEConv(F, 6, aggr="softmax", aggr_kwargs={"semi_grad": True}))

        class Weights(nn.MessagePassing):
            def forward(self, x, edge_index):
                with torch.no_grad():
                    w = self.edge_updater(edge_index, x=x)
                return self.propagate(edge_index, x=x, w=w)

            def edge_update(self, x_i, x_j):
                return (x_i * x_j).sum(-1)

            def message(self, x_j, w):
                return x_j * w.unsqueeze(-1)
        self.same(Weights())

    def test_views_of_constants_are_written(self):
        self.same(message(written_through_a_view))
        self.same(message(written_after_expanding))

    def test_widths_that_do_not_fit(self):
        lin = torch.nn.Linear(2 * F + 1, 4).to(DEVICE)
        for run in (lambda x_i, x_j: lin(torch.cat([x_i, x_j], -1)), lambda x_i, x_j: lin(x_j)):
            with self.assertRaisesRegex(RuntimeError, "shapes cannot be multiplied"):
                gnnc.pyg.accelerate(message(run))(self.x, self.edges)

    def test_requires_grad_is_asked(self):
        self.same(message(lambda x_i, x_j: x_j if x_j.requires_grad else 0 * x_j))
        self.same(message(lambda x_i, x_j: x_j * (2 if x_j.detach().requires_grad else 1)))
        self.same(message(lambda x_i, x_j: x_j + torch.from_numpy(x_j.detach().cpu().numpy()).to(DEVICE)))

    def test_casts_round(self):
        """Of values; derivatives pass a cast as they are."""
        theirs, ours = self.pair(message(lambda x_i, x_j: x_j.half().float() - x_j.bfloat16().float()))
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges), 1e-7)

    def test_odd_arguments(self):
        self.same(message(lambda x_i, x_j: x_j.permute(dims=(1, 0)).t() + x_j.double().to(x_j)))
        self.same(message(lambda x_i, x_j: torch.mul(input=x_j, other=x_i) + torch.add(x_j, x_i, alpha=2)))

    def test_aggregates_of_ones_own(self):
        def scattered(start, reduce, include_self):
            class Made(nn.MessagePassing):
                def forward(self, x, edge_index):
                    return self.propagate(edge_index, x=x)

                def aggregate(self, inputs, index, dim_size):
                    k = index[:, None].expand_as(inputs)
                    return start(inputs, (dim_size, F)).scatter_reduce(0, k, inputs, reduce, include_self=include_self)
            return named(Made)()
        self.same(scattered(lambda i, size: torch.zeros(size, device=DEVICE), "amax", True))
        self.same(scattered(lambda i, size: i.new_full(size, -1.0), "sum", True))
        self.same(scattered(lambda i, size: i.new_zeros(size), "amin", False))
        self.same(message(lambda x_i, x_j: x_j.new_ones(x_j.size()) + 1 + x_j))

    def test_directions(self):
        """A tuple of tensors of either end, in both flows."""
        for flow in ("source_to_target", "target_to_source"):
            for layer in (nn.GATConv(F, 3, 2, flow=flow), nn.GATv2Conv(F, 3, 2, flow=flow), nn.FAConv(F, flow=flow)):
                theirs, ours = self.pair(layer)
                more = {"x_0": self.x} if isinstance(layer, nn.FAConv) else {}
                for a, b in zip(outcome(ours, self.x, self.edges, more), outcome(theirs, self.x, self.edges, more)):
                    self.near(a, b)

    def test_maxima_of_sums(self):
        """The gradient of a maximum knows which of the sums it was."""
        for seed in range(8):
            torch.manual_seed(seed)
            self.same(nn.EdgeConv(torch.nn.Linear(2 * F, 4 + seed)))
            self.same(nn.EdgeConv(mlp(2 * F, 5, 3 + seed)))

    def test_inference_mode(self):
        for layer, takes in ((nn.SAGEConv(F, 6), ()), (nn.GCNConv(F, 6), ()), (nn.GraphConv(F, 6), (torch.rand(E, device=DEVICE),))):
            theirs, ours = self.pair(layer)
            with torch.inference_mode():
                edges = graph()
                self.near(ours(self.x, edges, *takes), theirs(self.x, edges, *takes))
                ours(self.x, self.edges, *takes)
            self.near(ours(self.x, edges, *takes), theirs(self.x, edges, *takes))
            x = self.x.clone().requires_grad_()
            ours(x, self.edges, *takes).sum().backward()

    def test_threads(self):
        _, ours = self.pair(nn.GATConv(F, 3, 2))
        graphs = [(torch.randn(N + k, F, device=DEVICE), graph(N, E + k)) for k in range(12)]
        expected = [ours(*g).detach() for g in graphs]
        wrong = []

        def calls(k):
            for r in range(40):
                at = (7 * r + k) % len(graphs)
                if (ours(*graphs[at]).detach() - expected[at]).abs().max() > 1e-5:
                    wrong.append(at)
        threads = [threading.Thread(target=calls, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_nothing_is_left_of_a_pass(self):
        gc.collect()
        gc.disable()
        try:
            for layer in (nn.GatedGraphConv(F, 3), nn.TAGConv(F, 6), nn.SGConv(F, 6, 2)):
                _, ours = self.pair(layer)
                kept = []
                for _ in range(4):
                    x = self.x.clone().requires_grad_()
                    kept.append(weakref.ref(x))
                    ours(x, self.edges).sum().backward()
                    del x
                self.assertEqual([k() is not None for k in kept[:-1]], [False] * 3, type(layer).__name__)
        finally:
            gc.enable()


class States(Base):
    def test_state_dict(self):
        theirs, ours = nn.GATConv(F, 3, 2), gnnc.pyg.GATConv(F, 3, 2)
        ours.load_state_dict(theirs.state_dict())
        theirs.load_state_dict(ours.state_dict())
        self.near(ours.to(DEVICE)(self.x, self.edges), theirs.to(DEVICE)(self.x, self.edges))

    def test_copies(self):
        _, ours = self.pair(nn.GATConv(F, 3, 2))
        y = ours(self.x, self.edges)
        stored = io.BytesIO()
        torch.save(ours, stored)
        stored.seek(0)
        for made in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours)), torch.load(stored, weights_only=False)):
            self.assertIs(type(made), type(ours))
            self.near(made(self.x, self.edges), y, 0)

    def test_compiled(self):
        """Under torch.compile PyG's own code is compiled."""
        theirs, ours = self.pair(nn.SAGEConv(F, 6))
        compiled = torch.compile(ours, backend="eager", fullgraph=True)
        self.near(compiled(self.x, self.edges), theirs(self.x, self.edges))

    def test_explained(self):
        _, ours = self.pair(nn.EdgeConv(mlp(2 * F, 200, 6)))
        text = gnnc.pyg.explain(ours, self.x, self.edges)
        self.assertIn("op lazy(src: E -> N, dst: E -> N sorted", text)
        self.assertRegex(text, r"PyTorch: linear of \[90, 16\] \(a linear function of 8 to 200 features of edges\)")

    def test_slow_paths_are_told(self):
        lazy.compute._told.clear()
        for layer, text in ((message(lambda x_i, x_j: torch.nn.functional.layer_norm(x_j - x_i, (F,))), "PyTorch computes layer_norm of edges"),
                            (nn.EdgeConv(mlp(2 * F, 200, 6)), "PyTorch computes linear of edges .a linear function of 8 to 200")):
            with self.assertWarnsRegex(gnnc.pyg.SlowPath, text):
                gnnc.pyg.accelerate(layer.to(DEVICE))(self.x, self.edges)
        with self.assertWarnsRegex(gnnc.pyg.SlowPath, "ReLU has no layer of PyG's"):
            gnnc.pyg.accelerate(torch.nn.ReLU())

    def test_lazy_tensors_have_values(self):
        scene = lazy.Scene(self.edges, lambda: _edge_indexes.of(self.edges, 0))
        made = self.x[scene.pair[0]] * 2
        self.assertIsInstance(made, lazy.Lazy)
        expected = self.x[self.edges[0]] * 2
        self.assertEqual(repr(made), repr(expected))
        self.assertEqual(made.tolist(), expected.tolist())
        self.assertTrue(torch.equal(copy.deepcopy(made), expected))
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(made)), expected))


if __name__ == "__main__":
    unittest.main()
