"""Layers whose modules, attributes or hooks change between calls, by gnnc.pyg beside PyG's own. Exit status 1: a test failed."""
import unittest

import torch
import torch_geometric.nn as nn
from torch.nn.modules import module as of_torch
from on_pyg import DEVICE, E, F, N, Base, mlp


class Changes(Base):
    def after(self, layer, change, *more):
        """Both are near before and after a change."""
        theirs, ours = self.pair(layer)
        for _ in range(3):
            self.near(ours(self.x, self.edges, *more), theirs(self.x, self.edges, *more))
        undo = [change(of) for of in (theirs, ours)]
        for _ in range(2):
            self.near(ours(self.x, self.edges, *more), theirs(self.x, self.edges, *more))
        for u in undo:
            if callable(u):
                u()

    def test_modules_of_a_layer_change(self):
        mlp = torch.nn.Sequential(torch.nn.Linear(2 * F, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4))
        mlp[4].weight = mlp[2].weight
        theirs, ours = self.pair(nn.EdgeConv(mlp))
        for _ in range(2):
            ours(self.x, self.edges)
        for of in (theirs, ours):
            torch.manual_seed(5)
            of.nn[4].weight = torch.nn.Parameter(torch.randn(4, 4, device=DEVICE))
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))
        for of in (theirs, ours):
            of.nn[1].__class__ = torch.nn.Sigmoid
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_hooks(self):
        theirs, ours = self.pair(nn.GCNConv(F, 6))
        ours(self.x, self.edges)
        for layer in (theirs, ours):
            layer.register_message_forward_hook(lambda module, inputs, out: out * 2)
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_modules_are_patched(self):
        theirs, ours = self.pair(nn.GINEConv(mlp(F, 6), edge_dim=3))
        attr = torch.rand(E, 3, device=DEVICE)
        for _ in range(2):
            ours(self.x, self.edges, attr)
        for layer in (theirs, ours):
            layer.lin.forward = lambda x: x.repeat(1, F)[:, :F]
        self.near(ours(self.x, self.edges, attr), theirs(self.x, self.edges, attr))

    def test_attributes_are_deleted(self):
        theirs, ours = self.pair(nn.GraphConv(F, 6))
        for of in (theirs, ours):
            of.message = lambda x_j, edge_weight: 2 * x_j
        for _ in range(2):
            self.near(ours(self.x, self.edges), theirs(self.x, self.edges))
        for of in (theirs, ours):
            del of.message
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_attributes_of_modules_are_deleted_and_set(self):
        def change(of):
            del of.nn[0].note
            of.nn[0].other = 2
        layer = nn.EdgeConv(mlp(2 * F, 6, 4))
        layer.nn[0].note = 1
        self.after(layer, change)

    def test_lists_change_in_place(self):
        def change(of):
            of.aggr_module.scaler[1] = "amplification"
        self.after(nn.PNAConv(F, 6, ["mean", "max"], ["identity", "attenuation"], torch.tensor([1, 2, 4, 6, 5, 2])), change)

    def test_functions_of_a_class_change(self):
        plain = nn.GraphConv.message
        layer = nn.GraphConv(F, 6)
        theirs, ours = self.pair(layer)
        ours(self.x, self.edges)
        try:
            for times in (2, 3):   # of one that is not PyG's, a call may depend on anything
                nn.GraphConv.message = lambda self, x_j, edge_weight, factor=[times]: factor[0] * x_j
                self.near(ours(self.x, self.edges), theirs(self.x, self.edges))
        finally:
            nn.GraphConv.message = plain
        self.near(ours(self.x, self.edges), theirs(self.x, self.edges))

    def test_hooks_of_modules(self):
        calls = []
        ways = {
            "forward": lambda m: m.register_forward_hook(lambda *a: calls.append(0)),
            "before": lambda m: m.register_forward_pre_hook(lambda *a: calls.append(0)),
            "backward": lambda m: m.register_full_backward_hook(lambda m, i, o: calls.append([tuple(t.shape) for t in (*i, *o)])),
            "before backward": lambda m: m.register_full_backward_pre_hook(lambda *a: calls.append(0)),
            "all": lambda m: of_torch.register_module_forward_hook(lambda m, *a: calls.append(type(m).__name__)),
            "backward of all": lambda m: of_torch.register_module_full_backward_hook(lambda m, *a: calls.append(type(m).__name__)),
        }
        for name, hook in ways.items():
            seen, pair = [], self.pair(nn.EdgeConv(mlp(2 * F, 6, 4)))
            for of in pair:
                for hooked in (False, False, True, True):
                    calls.clear()
                    kept = hook(of.nn[0]) if hooked else None
                    x = self.x.clone().requires_grad_()
                    of(x, self.edges).sum().backward()
                    if kept:
                        kept.remove()
                seen.append(list(calls))
            self.assertTrue(seen[0], name)
            self.assertEqual(seen[0], seen[1], name)

    def test_inputs_are_written_that_no_gradient_reads(self):
        """A sum's gradient takes no values, so what went in may be written; that of a product does."""
        for layer in (nn.SAGEConv(F, F), nn.GINConv(mlp(F, F)), nn.GCNConv(F, F)):
            made = []
            for of in self.pair(layer):
                start = self.x.clone().requires_grad_()
                h = start * 1
                y = of(h, self.edges)
                try:
                    h += y.detach()
                    y.sum().backward()
                    made.append(start.grad)
                except RuntimeError as e:
                    made.append(str(e)[:60])
            self.assertEqual(type(made[0]), type(made[1]), type(layer).__name__)
            if isinstance(made[0], torch.Tensor):
                self.near(made[1], made[0])

    def test_gradients_of_sums_are_differentiated(self):
        """What the gradient does not read is not kept, and second gradients are PyG's all the same."""
        weight = torch.rand(E, device=DEVICE)
        for layer in (nn.GraphConv(F, 6), nn.LEConv(F, 6)):
            made = []
            for of in self.pair(layer):
                x, w = self.x.clone().requires_grad_(), weight.clone().requires_grad_()
                g, = torch.autograd.grad(of(x, self.edges, w).square().sum(), x, create_graph=True)
                made.append(torch.autograd.grad(g.square().sum(), [x, w]))
            for a, b in zip(*made):
                self.near(b, a, 1e-4)


if __name__ == "__main__":
    unittest.main()
