"""Graphs in parts, in 1, 2, 4 and 7 processes by gloo, beside the whole graph in one. Exit status 1: a test failed.

Forward results have the same bits; gradients are within a bound, and have the same bits each time.
"""
import datetime
import os
import sys
import tempfile
import traceback

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import gnnc
from gnnc import distributed

RANKS = (1, 2, 4, 7)
K, H, D, R = 12, 2, 6, 3
TEXT = """
op dense(x: f32[N, K], w: f32[K, F]) -> (y: f32[N, F]) { y[n, f] = sum{k} x[n, k] * w[k, f]; }
op degrees(dst: E -> V sorted) -> (c: f32[V]) { c[v] = rsqrt(1 + degree(dst, v)); }
op gcn(src: E -> U, dst: E -> V sorted, self: V -> U prefix, c: f32[U], x: f32[U, F]) -> (y: f32[V, F]) {
    y[v, f] = c[self[v]] * (sum{e : dst[e] == v} c[src[e]] * x[src[e], f] + c[self[v]] * x[self[v], f]);
}
op sage(src: E -> U, dst: E -> V sorted, self: V -> U prefix, x: f32[U, K], w1: f32[K, Q], w2: f32[K, Q]) -> (y: f32[V, Q]) {
    m[v, k] = mean{e : dst[e] == v} x[src[e], k];
    y[v, q] = sum{k} (x[self[v], k] * w1[k, q] + m[v, k] * w2[k, q]);
}
op rgcn(src: E -> U, dst: E -> V sorted, type: E -> R, self: V -> U prefix, x: f32[U, K], w: f32[R, K, Q], w0: f32[K, Q])
    -> (y: f32[V, Q]) {
    c[e] = 1 / sum(1 by (dst, type)) for e in E;
    y[v, q] = sum{k} x[self[v], k] * w0[k, q] + sum{e : dst[e] == v} c[e] * sum{k} x[src[e], k] * w[type[e], k, q];
}
op gat(src: E -> U, dst: E -> V sorted, l: f32[V, H], r: f32[U, H], x: f32[U, H, D]) -> (y: f32[V, H, D]) {
    a[e, h] = softmax(leaky_relu(l[dst[e], h] + r[src[e], h], 0.2) by dst);
    y[v, h, d] = sum{e : dst[e] == v} a[e, h] * x[src[e], h, d];
}
grad dense;
grad gat;
grad gcn wrt (x);
grad sage;
grad rgcn;
"""


def graphs():
    g = torch.Generator().manual_seed(3)
    hubs = torch.stack([torch.randint(0, 60, (500,), generator=g), torch.randint(0, 60, (500,), generator=g) ** 2 // 60])
    path = torch.stack([torch.arange(20), torch.arange(1, 21)])
    star = torch.stack([torch.arange(1, 30), torch.zeros(29, dtype=torch.long)])
    twice = hubs[:, :100].repeat(1, 2)   # each edge stands twice
    loops = torch.stack([torch.arange(9), torch.arange(9)])
    none = torch.zeros((2, 0), dtype=torch.long)
    return {"hubs": (hubs, 60, "block"), "path": (path, 21, "hash"), "star": (star, 33, "block"), "twice": (twice, 70, "hash"),
            "loops": (loops, 9, torch.arange(9) % 2), "no edges": (none, 8, "block")}


class Whole:
    """A graph in one process, as a part is."""

    def __init__(self, edges, nodes):
        self.edge_ids = torch.argsort(edges[1], stable=True)
        self.edge_index, self.owned, self.ids = edges[:, self.edge_ids], nodes, torch.arange(nodes)

    def exchange(self, x):
        return x

    def total(self, t):
        return t


class Ours:
    """A part, in the process of its rank."""

    def __init__(self, part, group):
        self.part, self.group = part, group
        self.edge_ids, self.edge_index, self.owned, self.ids = part.edge_ids, part.edge_index, part.owned, part.ids[:part.owned]

    def exchange(self, x):
        return distributed.exchange(x, self.part, self.group)

    def total(self, t):
        dist.all_reduce(t, group=self.group)
        return t


def gcn(ops, of, src, dst, types, x, w):
    c = of.exchange(ops["degrees"](dst, V=of.owned))
    return ops["gcn"](src, dst, c, of.exchange(ops["dense"](x, w["w1"])), V=of.owned)


def sage(ops, of, src, dst, types, x, w):
    return ops["sage"](src, dst, of.exchange(x), w["w1"], w["w2"], V=of.owned)


def rgcn(ops, of, src, dst, types, x, w):
    return ops["rgcn"](src, dst, types[of.edge_ids].int(), of.exchange(x), w["w"], w["w1"], V=of.owned)


def gat(ops, of, src, dst, types, x, w):
    h = ops["dense"](x, w["w1"])
    left, right = ops["dense"](h, w["l"]), ops["dense"](h, w["r"])
    return ops["gat"](src, dst, left, of.exchange(right), of.exchange(h.view(-1, H, D))).flatten(1)


def outcome(ops, of, x, types, w):
    """Results, and gradients of rows of x and of weights."""
    made = {}
    src, dst = of.edge_index[0].int(), of.edge_index[1].int()
    for layer in (gcn, sage, rgcn, gat):
        x0 = x[of.ids].clone().requires_grad_()
        w0 = {k: t.clone().requires_grad_() for k, t in w.items()}
        y = layer(ops, of, src, dst, types, x0, w0)
        weigh = torch.cos(torch.arange(x.shape[0] * y.shape[1], dtype=torch.float32)).view(-1, y.shape[1])[of.ids]
        wanted = [x0, *w0.values()]
        grads = torch.autograd.grad((y * weigh).sum(), wanted, allow_unused=True)
        grads = [g if g is not None else torch.zeros_like(t) for g, t in zip(grads, wanted)]
        made[layer.__name__] = y.detach(), grads[0], [of.total(g) for g in grads[1:]]
    return made


def near(a, b, name):
    worst = ((a - b).abs().max() / b.abs().max().clamp(min=1)).item() if b.numel() else 0
    assert worst < 1e-5, "%s: %g off" % (name, worst)


def run_all(rank, folder):
    ops = gnnc.compile(TEXT, Q=H * D)
    g = torch.Generator().manual_seed(5)
    w = {"w1": torch.randn(K, H * D, generator=g), "w2": torch.randn(K, H * D, generator=g), "w": torch.randn(R, K, H * D, generator=g),
         "l": torch.randn(H * D, H, generator=g), "r": torch.randn(H * D, H, generator=g)}
    for n in RANKS:
        group = dist.new_group(list(range(n)))
        if rank >= n:
            continue
        for name, (edges, nodes, _) in graphs().items():
            part = distributed.Part.load("%s/%s.%d/%d.npz" % (folder, name, n, rank))
            part.edge_ids = torch.argsort(edges[1], stable=True)[part.edge_ids]
            distributed.join(part, group)
            g = torch.Generator().manual_seed(n)   # the same on each rank
            x, types = torch.randn(nodes, K, generator=g), torch.randint(0, R, (edges.shape[1],), generator=g)
            whole, ours = outcome(ops, Whole(edges, nodes), x, types, w), outcome(ops, Ours(part, group), x, types, w)
            again = outcome(ops, Ours(part, group), x, types, w)
            own = part.ids[:part.owned]
            for layer, (y, dx, dw) in ours.items():
                said = "%s of %s, rank %d of %d" % (layer, name, rank, n)
                assert torch.equal(y, whole[layer][0][own]), said + ": other bits than in one process"
                near(dx, whole[layer][1][own], said + ", dx")
                for a, b in zip(dw, whole[layer][2]):
                    near(a, b, said + ", dw")
                same = [torch.equal(a, b) for a, b in zip((dx, *dw), (again[layer][1], *again[layer][2]))]
                assert all(same), said + ": other bits when it runs again"
            apart(ops, part, group, x, w, whole["gat"][0][own])
            if n > 1 and name == "hubs":
                in_half(part, group, x)
        if n == 2:
            refusals(rank, part, group)


def apart(ops, part, group, x, w, whole):
    """Interior rows first, while the halo travels: the same bits, and the gradients of an exchange before all."""
    assert len(part.interior) + len(part.boundary) == part.owned

    def layer(h, rows):
        src, dst = rows.edge_index.int()
        left = ops["dense"](h[rows.rows], w["l"])
        return ops["gat"](src, dst, left, ops["dense"](h, w["r"]), h.view(-1, H, D)).flatten(1)

    made = []
    weigh = torch.cos(torch.arange(part.owned * H * D, dtype=torch.float32)).view(-1, H * D)
    for run in (lambda h: distributed.overlapped(layer, h, part, group), lambda h: distributed.overlapped(layer, h, part, group),
                lambda h: layer(distributed.exchange(h, part, group), distributed.Rows(part, torch.ones(part.owned, dtype=torch.bool)))):
        x0 = part.rows(x).clone().requires_grad_()
        y = run(ops["dense"](x0, w["w1"]))
        made.append((y.detach(), *torch.autograd.grad((y * weigh).sum(), x0)))
    assert torch.equal(made[0][0], whole) and torch.equal(made[2][0], whole), "other bits than in one process"
    assert torch.equal(made[0][1], made[1][1]), "other bits when it runs again"
    near(made[0][1], made[2][1], "a gradient of interior rows and boundary rows")


def in_half(part, group, x):
    """Rows that travel in 16 bits are as rows that are rounded; their gradients too."""
    own = part.rows(x).requires_grad_()
    y = distributed.exchange(own, part, group, torch.bfloat16)
    expected = x[part.ids]
    expected[part.owned:] = expected[part.owned:].bfloat16().float()
    assert torch.equal(y, expected)
    g, = torch.autograd.grad(y.square().sum() / 2, own)
    assert torch.isfinite(g).all() and (part.send.numel() == 0 or not torch.equal(g, part.rows(x)))


def raises(kind, text, call):
    try:
        call()
    except kind as e:
        assert text in str(e), e
        return
    raise AssertionError("nothing is raised: " + text)


def refusals(rank, part, group):
    """Each rank is told, and none waits for another."""
    kept = part.checksum
    part.checksum += rank
    raises(ValueError, "rank 1 has a part of another graph", lambda: distributed.join(part, group))
    part.checksum, part.part = kept, 0
    raises(ValueError, "rank 1 has part 0", lambda: distributed.join(part, group))
    part.part = rank
    raises(ValueError, "and the part has", lambda: distributed.exchange(torch.zeros(part.owned + 1, 2), part, group))
    raises(TypeError, "do not travel", lambda: distributed.exchange(torch.zeros(part.owned, 2).double(), part, group, torch.bfloat16))
    raises(TypeError, "cannot be exchanged", lambda: distributed.exchange(torch.zeros(part.owned, 2).long(), part, group))


def work(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="file://%s/meeting" % folder, rank=rank, world_size=RANKS[-1],
                            timeout=datetime.timedelta(seconds=120))
    try:
        run_all(rank, folder)
    except BaseException:
        traceback.print_exc()
        os._exit(1)   # the others are told by the parent
    dist.barrier()
    dist.destroy_process_group()


def write(part, path, whole_ids):
    """A part as gnnc writes it, with edges numbered as the sorted graph has them."""
    back = torch.empty_like(whole_ids)
    back[whole_ids] = torch.arange(len(whole_ids))
    count = torch.bincount(part.edge_index[1], minlength=part.owned)
    np.savez(path, part=[part.part, part.parts, part.nodes, part.edges, part.checksum], col=part.edge_index[0], ids=part.ids,
             rowptr=np.concatenate([[0], np.cumsum(count.numpy())]), edge_ids=back[part.edge_ids], halo_ptr=part.halo_ptr,
             send_ptr=part.send_ptr, send=part.send)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, (edges, nodes, owners) in graphs().items():
            for n in RANKS:
                os.mkdir("%s/%s.%d" % (folder, name, n))
                by = owners if isinstance(owners, str) or n > 1 else "block"
                for p in distributed.partition(edges, n, by, nodes):
                    assert torch.equal(p.ids[p.edge_index[0]], edges[0][p.edge_ids])
                    assert torch.equal(p.ids[p.edge_index[1]], edges[1][p.edge_ids])
                    write(p, "%s/%s.%d/%d.npz" % (folder, name, n, p.part), torch.argsort(edges[1], stable=True))
        raises(ValueError, "should have two rows", lambda: distributed.partition(torch.zeros(3, 4), 2))
        raises(ValueError, "edge_index has 5, and there are 4 nodes", lambda: distributed.partition(torch.tensor([[5], [1]]), 2, num_nodes=4))
        raises(gnnc.CompileError, "1 to 4096", lambda: distributed.partition(torch.tensor([[0], [1]]), 0))
        raises(ValueError, "no rowptr", lambda: distributed.Part({"part": [0] * 5}))
        mp.spawn(work, (folder,), nprocs=RANKS[-1])


if __name__ == "__main__":
    sys.exit(main())
