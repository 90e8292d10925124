"""DGL's message passing by its names, on DGL's graphs or gnnc.Graph: gspmm, gsddmm, edge_softmax, segment_mm and others.

    import gnnc.dgl as F
    y = F.u_mul_e_sum(g, x, w)                        # as dgl.ops has it
    a = F.edge_softmax(g, F.u_add_v(g, l, r))

Features have any shape behind the first axis, which is that of nodes or edges, and are broadcast as DGL does. Tensors of edges are in
the order of the graph's edges; of a gnnc.Graph, in that of its `src` and `dst`.
"""
import weakref

import torch

from . import _edge_indexes, lazy
from .graph import Graph
from .module import compile

_BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "dot": lambda a, b: (a * b).sum(-1, keepdim=True), "copy_lhs": lambda a, b: a, "copy_rhs": lambda a, b: b,
}
_TARGETS = {"u": "u", "src": "u", "v": "v", "dst": "v", "e": "e", "edge": "e"}


# ---- Graphs -----------------------------------------------------------------------------------------
_edges_of = weakref.WeakKeyDictionary()   # of a graph: what it had inside, its edges, sources, destinations


def _edges(graph):
    """The edge index of a graph, the same each time, and how many sources and destinations it has."""
    if not isinstance(graph, Graph) and not (hasattr(graph, "edges") and hasattr(graph, "num_src_nodes")):
        raise TypeError("a graph of DGL, or a gnnc.Graph, is wanted, and this is a %s" % type(graph).__name__)
    inside = getattr(graph, "_graph", None)   # of DGL's, which puts another there when it changes
    had = _edges_of.get(graph)
    if had is not None and had[0] is inside:
        return had[1:]
    if isinstance(graph, Graph):
        src, dst, sizes = graph.src, graph.dst, (graph.sources, graph.destinations)
    else:
        src, dst = graph.edges()
        sizes = graph.num_src_nodes(), graph.num_dst_nodes()
    made = torch.stack([torch.as_tensor(src), torch.as_tensor(dst)])
    _edges_of[graph] = (inside, made, *sizes)
    return made, *sizes


class _Pass:
    """A graph with its edges' ends, and tensors of edges that are not computed yet."""

    def __init__(self, graph):
        edges, sources, destinations = _edges(graph)
        self.scene = lazy.Scene(edges, lambda: _edge_indexes.of(edges, 0), 0, torch.is_grad_enabled())
        self.scene.settle("U", sources)
        self.scene.settle("V", destinations)
        self.src, self.dst = self.scene.pair[0], self.scene.pair[1]
        self.sizes = {"u": sources, "v": destinations, "e": edges.shape[1]}

    def at_edges(self, x, target):
        """What a tensor of sources, destinations or edges has at each edge."""
        if x.shape[:1] != (self.sizes[target],):
            raise ValueError("there are %d %s, and a tensor of the shape %s"
                             % (self.sizes[target], {"u": "sources", "v": "destinations", "e": "edges"}[target], tuple(x.shape)))
        if target == "e":
            return self.scene.of_edges(x) if x.shape[0] != 1 and self.scene.has_type(x) else x
        return x.index_select(0, self.src if target == "u" else self.dst)

    def reduced(self, m, how):
        """Messages at destinations; 0 where none comes."""
        if m.dim() == 1:
            return self.reduced(m.unsqueeze(-1), how).squeeze(-1)
        index = self.dst.view([-1] + [1] * (m.dim() - 1)).expand_as(m)
        base = m.new_zeros((self.sizes["v"], *m.shape[1:]))
        if how in ("max", "min"):
            return base.scatter_reduce(0, index, m, "a" + how, include_self=False)
        total = base.scatter_add(0, index, m)
        if how == "sum":
            return total
        if how != "mean":
            raise ValueError("the reduction %r is none of sum, mean, max, min" % how)
        count = m.new_zeros(self.sizes["v"]).scatter_add(0, self.dst, m.new_ones(self.sizes["e"]))
        return total / count.clamp(min=1).view([-1] + [1] * (m.dim() - 1))


def _aligned(a, b):
    """Features of two tensors with as many axes each: axes of one element are put behind the first."""
    while a.dim() < b.dim():
        a = a.unsqueeze(1)
    while b.dim() < a.dim():
        b = b.unsqueeze(1)
    return a, b


def _joined(p, op, lhs, rhs, lhs_target, rhs_target):
    if op not in _BINARY:
        raise ValueError("the operation %r is none of %s" % (op, ", ".join(_BINARY)))
    if op == "copy_lhs":
        return p.at_edges(lhs, lhs_target)
    if op == "copy_rhs":
        return p.at_edges(rhs, rhs_target)
    return _BINARY[op](*_aligned(p.at_edges(lhs, lhs_target), p.at_edges(rhs, rhs_target)))


# ---- Functions ----------------------------------------------------------------------------------------
def gspmm(g, op, reduce_op, lhs_data, rhs_data):
    """Messages of sources (lhs_data) and edges (rhs_data) by op, reduced at destinations by reduce_op: sum, mean, max or min."""
    p = _Pass(g)
    return lazy.forced(p.reduced(_joined(p, op, lhs_data, rhs_data, "u", "e"), reduce_op))


def gsddmm(g, op, lhs_data, rhs_data, lhs_target="u", rhs_target="v"):
    """A tensor of edges by op of two tensors of sources (u), destinations (v) or edges (e). op: also "dot", along the last axis."""
    return lazy.forced(_joined(_Pass(g), op, lhs_data, rhs_data, _TARGETS[lhs_target], _TARGETS[rhs_target]))


def edge_softmax(graph, logits, eids=None, norm_by="dst"):
    """exp of logits of edges over the sum of it among edges into the same destination, or from the same source."""
    if eids is not None:
        raise NotImplementedError("edge_softmax of some of the edges: graph.edge_subgraph has these alone")
    if norm_by not in ("dst", "src"):
        raise ValueError("norm_by is %r, and may be 'dst' or 'src'" % norm_by)
    p = _Pass(graph)
    x = p.at_edges(logits, "e")
    by, size = (p.dst, p.sizes["v"]) if norm_by == "dst" else (p.src, p.sizes["u"])
    index = by.view([-1] + [1] * (x.dim() - 1)).expand_as(x)
    top = x.new_zeros((size, *x.shape[1:])).scatter_reduce(0, index, x.detach(), "amax", include_self=False)
    e = (x - top.index_select(0, by)).exp()
    total = x.new_zeros((size, *x.shape[1:])).scatter_add(0, index, e)
    return lazy.forced(e / total.index_select(0, by))


# ---- Products of matrices by segments -----------------------------------------------------------------
_TEXT = 'import "segmm"; op unused(x: f32[N]) -> (y: f32[N]) { y[n] = x[n]; } grad gather_mm wrt (x, w);'
_modules, _types = {}, {}


def _module(dtype):
    if dtype not in _modules:
        _modules[dtype] = compile(_TEXT, ops=["segmm", "segmm.grad", "gather_mm", "gather_mm.grad"], T=dtype)
    return _modules[dtype]


def segment_mm(a, b, seglen_a):
    """Rows of a [N, K] in segments of seglen_a rows [R], times the matrix of their segment in b [R, K, Q]: [N, Q]."""
    key = id(seglen_a), a.device
    had = _types.get(key)
    if had is None or had[0]() is not seglen_a or had[1] != seglen_a._version:
        if len(seglen_a) != len(b):
            raise ValueError("there are %d lengths of segments, and %d matrices" % (len(seglen_a), len(b)))
        segments = torch.repeat_interleave(torch.arange(len(seglen_a), dtype=torch.int32), seglen_a.cpu()).to(a.device)
        had = _types[key] = weakref.ref(seglen_a, lambda _: _types.pop(key, None)), seglen_a._version, segments
    if len(had[2]) != len(a):
        raise ValueError("segments have %d rows, and a has %d" % (len(had[2]), len(a)))
    return _module(a.dtype).segmm(had[2], a, b)


def gather_mm(a, b, *, idx_b):
    """Each row of a [N, K] times the matrix of b [R, K, Q] that idx_b [N] names: [N, Q]."""
    return _module(a.dtype).gather_mm(idx_b, a, b)


# ---- DGL's names of single functions -------------------------------------------------------------------
def _named(name):
    """u_mul_e_sum, copy_u_max, copy_e_mean; u_add_v, u_dot_e, copy_u."""
    words = name.split("_")
    if words[0] == "copy" and len(words) in (2, 3) and words[1] in ("u", "e", "v"):
        op = "copy_rhs" if words[1] == "e" else "copy_lhs"
        if len(words) == 3 and words[2] in ("sum", "mean", "max", "min") and words[1] != "v":
            return lambda g, x: gspmm(g, op, words[2], x, x)
        if len(words) == 2:
            return lambda g, x: gsddmm(g, op, x, x, words[1], words[1])
    elif len(words) in (3, 4) and words[1] in _BINARY and words[0] in ("u", "v", "e") and words[2] in ("u", "v", "e"):
        if len(words) == 3:
            return lambda g, x, y: gsddmm(g, words[1], x, y, words[0], words[2])
        if words[0] == "u" and words[2] == "e" and words[1] != "dot" and words[3] in ("sum", "mean", "max", "min"):
            return lambda g, x, y: gspmm(g, words[1], words[3], x, y)
    return None


def __getattr__(name):
    made = _named(name)
    if made is None:
        raise AttributeError("gnnc.dgl has no %s: it has gspmm, gsddmm, edge_softmax, segment_mm, gather_mm, and names such as u_mul_e_sum, "
                             "u_add_v and copy_u_max" % name)
    made.__name__ = name
    globals()[name] = made
    return made
