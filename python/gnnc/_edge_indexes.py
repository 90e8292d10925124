"""Edge indexes that were seen before: sorted once."""
import threading
import weakref
from collections import OrderedDict

import torch

from .module import Shared

_GRAPHS = 16   # that are kept, those used last
_GONE = 2      # of those, whose tensor is gone and that nobody has met again, as of a sampled batch


# ---- Sorted once --------------------------------------------------------------------------------------
class _Permute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t, order, back, dim):
        ctx.back, ctx.order, ctx.dim = back, order, dim
        return t.index_select(dim, order)

    @staticmethod
    def backward(ctx, g):
        return _Permute.apply(g, ctx.back, ctx.order, ctx.dim), None, None, None


class _Sorted:
    """An edge index sorted by destination, and tensors of its edges in that order."""

    def __init__(self, edges, flow):
        self.edges, self.flow = edges, flow
        src, dst = edges[flow], edges[1 - flow]
        count = edges.shape[1]
        told = torch.stack([edges.amin(), src.amax(), dst.amax(), (dst[1:] < dst[:-1]).any().to(edges.dtype)]).tolist() if count else [0] * 4
        self.least, self.most = told[0], {"U": told[1], "V": told[2]}   # with no edges nothing is read
        self.order = self.back = None
        if told[3]:
            dst, self.order = torch.sort(dst, stable=True)
            src = src[self.order]
            self.back = torch.empty_like(self.order)
            self.back[self.order] = torch.arange(count, device=edges.device)
        narrow = torch.int32 if max(told) < 2**31 - 1 else torch.int64
        self.src, self.dst = src.to(narrow).clone(), dst.to(narrow).clone()
        self._permuted = {}
        self.plans = {}   # by op and sizes
        self.alive = 0         # tensors that it is of
        self.is_again = False  # an equal tensor came later
        self.shared = Shared()

    def size(self, letter):
        """How many points sources (U) or destinations (V) need."""
        return self.most[letter] + 1

    def must_lie_in(self, letter, size):
        """Sources (U) or destinations (V) are points of a space of that size."""
        if self.edges.shape[1] and (self.least < 0 or self.most[letter] >= size):
            row = (letter == "V") ^ self.flow
            wrong = ((self.edges[row] < 0) | (self.edges[row] >= size)).nonzero()
            if len(wrong):
                at = int(wrong[0])
                raise IndexError("edge_index[%d, %d] is %d, and there are %d nodes" % (row, at, int(self.edges[row, at]), size))

    def permuted(self, t, dim):
        if self.order is None:
            return t
        if t.requires_grad and torch.is_grad_enabled():
            return _Permute.apply(t, self.order, self.back, dim)
        had = self._permuted.get((id(t), dim))
        if t.is_inference() or torch.is_inference_mode_enabled():
            return t.index_select(dim, self.order)
        if had is not None and had[0]() is t and had[1] == t._version:
            return had[2]
        made = t.index_select(dim, self.order)
        self._permuted[id(t), dim] = weakref.ref(t, lambda _, key=(id(t), dim): self._permuted.pop(key, None)), t._version, made
        return made

    def unpermuted(self, t, dim):
        return t if self.order is None else _Permute.apply(t, self.back, self.order, dim)


class _Graphs:
    """Edge indexes that were seen, sorted. Whoever has an equal one gets the same."""

    def __init__(self):
        self.kept = OrderedDict()   # by id, those used last
        self.seen = {}              # by id: a tensor that is alive, its version, what it is
        self.lock = threading.RLock()

    def known(self, edges, flow):
        """The graph of a tensor that was seen, or of an equal one; None: there is none."""
        with self.lock:
            had = self.seen.get((id(edges), flow)) if not edges.is_inference() else None
            if had is not None and had[0]() is edges and had[1] == edges._version:
                return had[2]
            made = self._equal(edges, flow)
            if made is not None:
                made.is_again = True
                self._see(edges, flow, made)
            return made

    def of(self, edges, flow):
        with self.lock:
            made = self.known(edges, flow)
            if made is None:
                with torch.inference_mode(False):   # others may want gradients along it
                    made = _Sorted(edges.detach().clone(), flow)
                self._drop_gone()
                self.kept[id(made)] = made
                while len(self.kept) > _GRAPHS:
                    self.kept.popitem(last=False)
                self._see(edges, flow, made)
            return made

    def _drop_gone(self):
        gone = [key for key, g in self.kept.items() if not g.alive and not g.is_again]
        for key in gone[:max(len(gone) - _GONE, 0)]:
            del self.kept[key]

    def _see(self, edges, flow, made):
        if edges.is_inference():   # whose changes nobody counts
            return
        key = id(edges), flow

        def forget(_, key=key):
            made.alive -= 1
            self.seen.pop(key, None)
        had = self.seen.get(key)
        if had is not None:
            had[2].alive -= 1
        made.alive += 1
        self.seen[key] = weakref.ref(edges, forget), edges._version, made

    def _equal(self, edges, flow):
        if edges.is_cuda and torch.cuda.is_current_stream_capturing():
            return None   # nothing can be compared
        for key, g in reversed(self.kept.items()):
            if g.flow == flow and g.edges.shape == edges.shape and g.edges.dtype == edges.dtype and g.edges.device == edges.device and \
                    torch.equal(g.edges, edges):
                self.kept.move_to_end(key)
                return g
        return None


_graphs = _Graphs()


def of(edges, flow):
    """The sorted graph of an edge index. flow 1: its row 0 has the destinations."""
    return _graphs.of(edges, flow)


# ---- Whether it pays to sort one ------------------------------------------------------------------------
_FRESH = 3   # passes of a layer on edges that it had not met, after which it sorts those alone that come again
# Elements of all edges that make up for it, as measured (bench/pyg_batches.py).
_MUCH = {"cuda": 60_000_000, "cpu": 1_500_000}


class Sights:
    """Edge indexes that a layer met. To sort one and to plan ops of it takes longer than a pass: where each has edges of its own, as of
    sampled batches, PyG's code is faster, unless they are many."""

    def __init__(self):
        self.fresh, self.last, self.once, self.met = 0, None, {}, weakref.WeakKeyDictionary()
        self.elements = 0   # of an edge, in what the layer's last pass computed

    def _meet(self, graph, passed):
        self.met[graph] = weakref.ref(passed) if passed is not None else lambda: None

    def pays(self, edges, flow, passed):
        """Whether edges are worth it; passed: an object that stands for the forward pass."""
        known = _graphs.known(edges, flow)
        if known is not None and known in self.met:
            if self.met[known]() is not passed or passed is None:
                self.fresh = max(self.fresh - 1, 0)
                self._meet(known, passed)
            return True
        if edges.is_cuda and torch.cuda.is_current_stream_capturing():
            return known is not None
        if passed is None or self.last is None or self.last() is not passed:
            self.fresh = min(self.fresh + 1, 2 * _FRESH)
            self.last = weakref.ref(passed) if passed is not None else None
        if known is not None:   # by another layer
            self._meet(known, passed)
            return True
        if self.fresh <= _FRESH or edges.shape[1] * self.elements >= _MUCH[edges.device.type]:
            self._meet(_graphs.of(edges, flow), passed)
            return True
        had = self.once.get(id(edges))
        if had is not None and had[0]() is edges and had[1] == edges._version and had[2]() is not passed:
            self._meet(_graphs.of(edges, flow), passed)
            return True
        if not edges.is_inference():
            key = id(edges)
            self.once[key] = (weakref.ref(edges, lambda _, key=key: self.once.pop(key, None)), edges._version,
                              weakref.ref(passed) if passed is not None else lambda: None)
        return False
