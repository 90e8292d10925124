"""A graph in several processes: each has a part of its nodes, rows are exchanged by torch.distributed, and ops stay as they are.

    part = gnnc.distributed.Part.load("g/%d.npz" % rank)     # written by: gnnc partition graph.npz --parts=8 -o g/
    gnnc.distributed.join(part)                              # the ranks hold the parts of one cut, or all raise
    x = exchange(x, part)                                    # [owned, …] -> [owned + halo, …], with its gradient
    y = conv((x, x[:part.owned]), part.edge_index)           # rows are whole: softmax, max and degrees need nothing else

Part p of the graph is rank p's. `torch.distributed` has to be initialised, by gloo for tensors of the host, by nccl for those of a GPU; its
timeout is the time after which a rank that is gone raises in all others.
"""
import functools
import math
import os
import tempfile

import numpy as np
import torch
import torch.distributed as dist

from ._compiler import run
from .module import compile

_LISTS = ("ids", "edge_ids", "halo_ptr", "send_ptr", "send")
_ALONG = ("etype", "ntype", "weight", "x", "y", "train_idx", "val_idx", "test_idx")


class Part:
    """One part of a graph.

    part, parts: which, of how many. nodes, edges: of the whole graph. owned, halo: how many rows are its own, and of others.
    edge_index [2, E]: sources below owned + halo, then rows below owned, sorted. ids [owned + halo], edge_ids [E]: their numbers in the
    whole graph. data: what the file has of etype, weight, x, y, train_idx and others, along its own rows or edges.
    """

    def __init__(self, arrays):
        lacks = [n for n in ("part", "rowptr", "col", *_LISTS) if n not in arrays]
        if lacks:
            raise ValueError("this is no part of a graph, as it has no %s: gnnc partition writes them" % lacks[0])
        self.part, self.parts, self.nodes, self.edges, self.checksum = (int(n) for n in arrays["part"])
        rowptr = torch.as_tensor(arrays["rowptr"])
        self.owned = len(rowptr) - 1
        for n in _LISTS:
            setattr(self, n, torch.as_tensor(arrays[n]))
        self.halo = len(self.ids) - self.owned
        dst = torch.repeat_interleave(torch.arange(self.owned), rowptr[1:] - rowptr[:-1])
        self.edge_index = torch.stack([torch.as_tensor(arrays["col"]).long(), dst])
        self.sends = (self.send_ptr[1:] - self.send_ptr[:-1]).tolist()        # rows, to each rank
        self.receives = (self.halo_ptr[1:] - self.halo_ptr[:-1]).tolist()     # rows, of each rank
        self.data = {n: torch.as_tensor(arrays[n]) for n in _ALONG if n in arrays}
        self.at = self.send.int()

    @classmethod
    def load(cls, path):
        """The part in a file."""
        with np.load(path) as f:
            return cls(dict(f))

    def to(self, device):
        """The same with its tensors on a device."""
        made = object.__new__(Part)
        made.__dict__.update({n: v for n, v in self.__dict__.items() if n not in ("interior", "boundary")})
        for n in ("ids", "edge_ids", "edge_index", "send", "at"):
            setattr(made, n, getattr(self, n).to(device))
        made.data = {n: t.to(device) for n, t in self.data.items()}
        return made

    def rows(self, t):
        """Of a tensor with a row for each node of the whole graph, the part's own."""
        return t[self.ids[:self.owned].to(t.device)]

    def of_edges(self, t):
        """Of a tensor with a row for each edge of the whole graph, the part's."""
        return t[self.edge_ids.to(t.device)]

    def _only(self, boundary):
        src, dst = self.edge_index
        at = torch.zeros(self.owned, dtype=torch.bool, device=src.device)
        at[dst[src >= self.owned]] = True
        return Rows(self, at if boundary else ~at)

    @functools.cached_property
    def interior(self):
        """Rows whose sources are all the part's own."""
        return self._only(False)

    @functools.cached_property
    def boundary(self):
        """Rows that have sources of other parts."""
        return self._only(True)

    def __repr__(self):
        return "Part %d of %d: %d rows, %d edges, %d rows of others" % (self.part, self.parts, self.owned, self.edge_index.shape[1], self.halo)


class Rows:
    """Some rows of a part. rows [n]: which of its own. edge_index [2, E]: sources among owned + halo, then rows below n, sorted. edges [E]:
    which of the part's edges they are."""

    def __init__(self, part, at):
        self.part, self.rows = part, at.nonzero().flatten()
        number = torch.cumsum(at, 0) - 1
        self.edges = at[part.edge_index[1]].nonzero().flatten()
        src, dst = part.edge_index[:, self.edges]
        self.edge_index = torch.stack([src, number[dst]])

    def __len__(self):
        return len(self.rows)


def partition(edge_index, parts, owners="block", num_nodes=None, seed=0):
    """The parts of a graph, a list of Part.

    edge_index [2, E]: sources, then destinations. owners: "block", "hash", "metis" (gnnc partition --help), or an owner for each node.
    num_nodes: where the last nodes have no edges. edge_ids of the parts are columns of edge_index.
    """
    edges = np.asarray(torch.as_tensor(edge_index).cpu()).astype(np.int64)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise ValueError("edge_index has the shape %s, and should have two rows" % (edges.shape,))
    least = int(edges.max()) + 1 if edges.size else 0
    nodes = least if num_nodes is None else num_nodes
    if edges.size and (edges.min() < 0 or nodes < least):
        raise ValueError("edge_index has %d, and there are %d nodes" % (edges.min() if edges.min() < 0 else least - 1, nodes))
    order = np.argsort(edges[1], kind="stable")
    with tempfile.TemporaryDirectory() as folder:
        by = owners
        if not isinstance(owners, str):
            by = os.path.join(folder, "owners.npy")
            np.save(by, np.asarray(torch.as_tensor(owners).cpu()).astype(np.int64))
        whole = os.path.join(folder, "graph.npz")
        np.savez(whole, rowptr=np.searchsorted(edges[1][order], np.arange(nodes + 1)), col=edges[0][order], num_src=nodes)
        run(["partition", whole, "--parts=%d" % parts, "--owners=" + by, "--seed=%d" % seed, "-o", folder])
        made = [Part.load(os.path.join(folder, "%d.npz" % i)) for i in range(parts)]
    for p in made:
        p.edge_ids = torch.from_numpy(order)[p.edge_ids]
    return made


def join(part, group=None):
    """Raises on every rank, where the ranks' parts are not those of one cut, each that of its number."""
    size = dist.get_world_size(group)
    told = [None] * size
    dist.all_gather_object(told, (part.part, part.parts, part.checksum, part.sends, part.receives), group=group)
    for r, (number, parts, checksum, sends, _) in enumerate(told):
        if parts != size:
            raise ValueError("rank %d has a part of %d, and there are %d ranks" % (r, parts, size))
        if number != r:
            raise ValueError("rank %d has part %d" % (r, number))
        if checksum != told[0][2]:
            raise ValueError("rank %d has a part of another graph or another cut than rank 0" % r)
        if any(n != told[q][4][r] for q, n in enumerate(sends)):
            raise ValueError("rank %d sends other rows than others expect" % r)


# ---- The exchange -----------------------------------------------------------------------------------
_TEXT = 'import "halo"; op unused(x: f32[N]) -> (y: f32[N]) { y[n] = x[n]; }'
_NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}
_made = {}


def _op(name, dtype):
    if (name, dtype) not in _made:
        if dtype not in _NAMES:
            raise TypeError("rows of %s cannot be exchanged: %s can" % (dtype, ", ".join(_NAMES.values())))
        _made[name, dtype] = compile(_TEXT, ops=[name], T=_NAMES[dtype])[name]
    return _made[name, dtype]


class _Going:
    """Rows on their way: made is being filled until work is done."""

    def __init__(self, part, group, low):
        self.part, self.group, self.low, self.work, self.made = part, group, low, None, None

    def start(self, rows, sends, count, receives):
        self.made, self.kept = rows.new_empty((count, rows.shape[1])), rows   # what is sent stays until then
        self.work = dist.all_to_all_single(self.made, rows, receives, sends, group=self.group, async_op=True)

    def done(self):
        self.work.wait()
        made, self.made, self.kept, self.work = self.made, None, None, None
        return made


class _Start(torch.autograd.Function):
    """Sends rows; what it gives stands for them until _End. Backward: gradients that _End sent are here, and are added."""

    @staticmethod
    def forward(ctx, x, going):
        part, low = going.part, going.low
        ctx.going, ctx.shape = going, x.shape
        flat = x.detach().reshape(part.owned, math.prod(x.shape[1:])).contiguous()
        going.start(_op("take_as" if low else "take", low or x.dtype)(part.at, flat), part.sends, part.halo, part.receives)
        return x.new_zeros(()).expand(part.halo, flat.shape[1])

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        going = ctx.going
        own = grad.new_zeros((going.part.owned, grad.shape[1]))
        back = going.done()
        return _op("give_as" if going.low else "give", back.dtype)(going.part.at, own, back).reshape(ctx.shape), None


class _End(torch.autograd.Function):
    @staticmethod
    def forward(ctx, token, going, dtype):
        ctx.going = going
        return going.done().to(dtype)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        going = ctx.going
        part = going.part
        going.start(grad.to(going.low or grad.dtype).contiguous(), part.receives, len(part.send), part.sends)
        return grad.new_zeros(()).expand(grad.shape), None, None


def _started(x, part, group, dtype):
    """Sends rows, and gives what waits for those of others, behind which there are all."""
    going = _Going(part, group, None if dtype == x.dtype else dtype)
    token = _Start.apply(x, going)
    return lambda: torch.cat([x, _End.apply(token, going, x.dtype).reshape(part.halo, *x.shape[1:])])


def exchange(x, part, group=None, dtype=None):
    """x [owned, …], a row for each node of the part, to [owned + halo, …], with those of others behind. All ranks have to call it.

    Its gradient is sent back, and added in the order of ranks: the same bits each time. dtype: torch.float16 or bfloat16, in which rows
    of f32 and their gradients travel.
    """
    _check(x, part, dtype)
    if part.parts == 1:
        return x
    return _started(x, part, group, dtype)()


def _check(x, part, dtype):
    if x.shape[0] != part.owned:
        raise ValueError("x has %d rows, and the part has %d nodes of its own" % (x.shape[0], part.owned))
    if dtype is not None and (x.dtype != torch.float32 or dtype not in _NAMES):
        raise TypeError("rows of %s do not travel in %s: f32 does in f16, bf16" % (x.dtype, dtype))


def overlapped(layer, x, part, group=None, dtype=None):
    """What layer gives for all rows of a part, where interior ones are computed while the halo travels; backward likewise.

    layer(x_all, rows): results [len(rows), …] of part.interior or part.boundary (Rows), with x_all [owned, …] or [owned + halo, …]; what
    a row has of its own is x_all[rows.rows]. All ranks have to call it. dtype: as of exchange.
    """
    _check(x, part, dtype)
    if part.parts == 1:
        return layer(x, part.interior)
    ended = _started(x, part, group, dtype)
    inner = layer(x, part.interior)
    outer = layer(ended(), part.boundary)
    back = torch.empty(part.owned, dtype=torch.long, device=x.device)
    back[torch.cat([part.interior.rows, part.boundary.rows])] = torch.arange(part.owned, device=x.device)
    return torch.cat([inner, outer])[back]
