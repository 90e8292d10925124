"""Graphs for ops: edges sorted by what they lead to, once, and what goes along with them."""
import sys

from . import _arrays


def _torch():
    return sys.modules.get("torch")


def _numpy():   # which takes longer to import than the rest
    import numpy
    return numpy


def _own(a):
    """An array that nobody else has: plans of it are kept."""
    return a.clone() if _is_tensor(a) else _arrays.fixed(_numpy().asarray(a))


def _is_tensor(a):
    return _torch() is not None and isinstance(a, _torch().Tensor)


def _sorted_by(dst):
    """(the order, stable, or None: it is sorted; the keys in it)."""
    if _is_tensor(dst):
        if bool((dst[1:] >= dst[:-1]).all()):
            return None, dst
        keys, order = _torch().sort(dst, stable=True)
        return order, keys
    if (dst[1:] >= dst[:-1]).all():
        return None, dst
    order = _numpy().argsort(dst, kind="stable")
    return order, dst[order]


def _joined(a, b):
    return _torch().cat([a, b]) if _is_tensor(a) else _numpy().concatenate([a, b])


def _arange(n, like):
    return _torch().arange(n, dtype=like.dtype, device=like.device) if _is_tensor(like) else _numpy().arange(n, dtype=like.dtype)


def _must_lie_in(a, size, what):
    """Indices of nodes."""
    if str(a.dtype).split(".")[-1] not in ("int32", "int64"):
        raise TypeError("%s are of %s, and have to be of int32 or int64" % (what, a.dtype))
    wrong = ((a < 0) | (a >= size)).nonzero()
    if len(wrong) and len(wrong[0]):
        at = int(wrong[0].reshape(-1)[0] if _is_tensor(a) else wrong[0][0])
        raise ValueError("%s[%d] is %d, and there are %d nodes" % (what, at, int(a[at]), size))


class Graph:
    """Edges from sources to destinations, as ops take them: sorted by destination, int32 or int64.

    An op takes it in place of its first maps, and by it knows their sizes:

        graph = gnnc.Graph.of(edge_index, nodes)
        y = layers.gat(graph, l, r, x)

    `src`, `dst`: the sorted edges. `order`: for each of them, which edge of those given it is, or None: they were sorted.
    `maps`: what an op's maps are called, (array, size of the space it leads into) each; `add` gives it more of them.
    """

    def __init__(self, src, dst, sources, destinations, order=None, given=None):
        self.src, self.dst = _own(src), _own(dst)
        self.sources, self.destinations = int(sources), int(destinations)
        self.order, self.given = order, len(src) if given is None else given
        self.maps = {"src": (self.src, self.sources), "dst": (self.dst, self.destinations)}

    @property
    def edges(self):
        """How many edges there are, added ones among them."""
        return len(self.src)

    def __repr__(self):
        return "<gnnc graph: %d edges from %d to %d nodes>" % (self.edges, self.sources, self.destinations)

    # ---- From what others have --------------------------------------------------------------------
    @classmethod
    def from_edges(cls, src, dst, nodes=None, self_loops=False):
        """Of two arrays. nodes: how many, or (sources, destinations); by default those that edges name.

        self_loops: adds an edge from each node to itself, behind the others; those that are there stay.
        """
        if len(src.shape) != 1 or src.shape != dst.shape:
            raise ValueError("sources and destinations are two arrays of one axis, of the same length; these have %s and %s"
                             % (tuple(src.shape), tuple(dst.shape)))
        if nodes is None:
            nodes = max(int(a.max()) + 1 if len(a) else 0 for a in (src, dst))
        sources, destinations = nodes if isinstance(nodes, (tuple, list)) else (nodes, nodes)
        _must_lie_in(src, sources, "sources")
        _must_lie_in(dst, destinations, "destinations")
        given = len(src)
        if self_loops:
            if sources != destinations:
                raise ValueError("self loops are of graphs whose sources are their destinations, not of %d and %d nodes"
                                 % (sources, destinations))
            loops = _arange(destinations, dst)
            src, dst = _joined(src, loops), _joined(dst, loops)
        order, dst = _sorted_by(dst)
        if order is not None:
            src = src[order]
        if _is_tensor(src):
            src, dst = src.contiguous(), dst.contiguous()
        return cls(src, dst, sources, destinations, order, given)

    @classmethod
    def from_edge_index(cls, edge_index, nodes=None, self_loops=False):
        """Of an array of two rows, as PyG has it: sources, destinations."""
        shape = tuple(edge_index.shape)
        if len(shape) != 2 or shape[0] != 2:
            raise ValueError("an edge index has two rows, and this has the shape %s%s"
                             % (shape, ": edge_index.T?" if shape[1:] == (2,) else ""))
        return cls.from_edges(edge_index[0], edge_index[1], nodes, self_loops)

    @classmethod
    def of(cls, graph, nodes=None, self_loops=False):
        """Of what other packages have: an edge index of two rows, a pair of arrays, PyG's Data, EdgeIndex and SparseTensor, edges of one
        kind of a HeteroData, DGL's graphs, sparse matrices of SciPy and PyTorch (rows are destinations), NetworkX's graphs.

        self_loops: adds one to each node; those that are there stay, where PyG's layers take them out first.
        """
        module = type(graph).__module__.split(".")[0]
        if module == "networkx":
            import networkx
            graph = networkx.to_scipy_sparse_array(graph).T   # whose rows are where edges come from
            module = "scipy"
        if module == "scipy":
            m = graph.tocoo()
            return cls.from_edges(m.col.astype(_numpy().int64), m.row.astype(_numpy().int64), (m.shape[1], m.shape[0]), self_loops)
        if module == "dgl":
            src, dst = graph.edges()
            return cls.from_edges(src, dst, (graph.num_src_nodes(), graph.num_dst_nodes()), self_loops)
        if module == "torch_sparse":
            row, col, _ = graph.coo()
            return cls.from_edges(col, row, (graph.size(1), graph.size(0)), self_loops)
        if _is_tensor(graph) and graph.layout is not _torch().strided:   # rows are destinations
            indices = graph.to_sparse_coo().coalesce().indices()
            return cls.from_edges(indices[1], indices[0], (graph.shape[1], graph.shape[0]), self_loops)
        if hasattr(graph, "edge_index") and not _is_tensor(graph):
            if nodes is None:   # of edges of one kind, as of HeteroData, both ends tell
                size = graph.size() if type(graph).__name__ == "EdgeStorage" else (None, None)
                nodes = size if None not in size else graph.num_nodes
            return cls.from_edge_index(graph.edge_index, nodes, self_loops)
        if type(graph).__name__ == "EdgeIndex":
            if nodes is None and graph.num_rows is not None and graph.num_cols is not None:
                nodes = graph.num_rows, graph.num_cols
            graph = graph.as_tensor()
        if isinstance(graph, str) or not isinstance(graph, (tuple, list)) and not hasattr(graph, "shape"):
            raise TypeError("a graph, an edge index or a pair of arrays is wanted, and this is a %s" % type(graph).__name__)
        if isinstance(graph, (tuple, list)):
            return cls.from_edges(graph[0], graph[1], nodes, self_loops)
        return cls.from_edge_index(graph, nodes, self_loops)

    # ---- What goes along ------------------------------------------------------------------------
    def sort(self, values, loops=None):
        """Values of the edges that were given, in the order of `src` and `dst`. loops: those of edges that were added: one for
        all of them, one each, or "mean": of the edges into the same node, 0 where there is none."""
        if len(values) != self.given:
            raise ValueError("there are %d edges, and %d values" % (self.given, len(values)))
        if self.edges != self.given:
            if loops is None:
                raise ValueError("self loops were added, whose value is not given: loops=…")
            n = self.edges - self.given
            if isinstance(loops, str):
                if loops != "mean":
                    raise ValueError("loops is %r, and may be a number, an array or 'mean'" % loops)
                loops = self._means(values)
            more = (_torch().as_tensor(loops, dtype=values.dtype, device=values.device).expand(n, *values.shape[1:])
                    if _is_tensor(values) else
                    _numpy().broadcast_to(_numpy().asarray(loops, values.dtype), (n, *values.shape[1:])))
            values = _joined(values, more)
        return values if self.order is None else values[self.order]

    def _means(self, values):
        """For each node the mean of values of the edges that were given into it."""
        dst = self.dst if self.order is None else self._given_order(self.dst)
        dst = dst[:self.given]
        if _is_tensor(values):
            total = values.new_zeros((self.destinations, *values.shape[1:])).index_add(0, dst.long(), values)
            count = _torch().bincount(dst, minlength=self.destinations).clamp(min=1).to(values.dtype)
        else:
            total = _numpy().zeros((self.destinations, *values.shape[1:]), values.dtype)
            _numpy().add.at(total, dst, values)
            count = _numpy().maximum(_numpy().bincount(dst, minlength=self.destinations), 1).astype(values.dtype)
        return total / count.reshape((-1,) + (1,) * (len(values.shape) - 1))

    def _given_order(self, values):
        place = _torch().empty_like(self.order) if _is_tensor(self.order) else _numpy().empty_like(self.order)
        place[self.order] = _arange(len(self.order), self.order)
        return values[place]

    def unsort(self, values):
        """Values in the order of `src` and `dst`, in that of the edges that were given; those of added ones are left out."""
        if len(values) != self.edges:
            raise ValueError("there are %d sorted edges, and %d values" % (self.edges, len(values)))
        if self.order is None:
            return values[:self.given]
        return self._given_order(values)[:self.given]

    def to(self, device):
        """The graph with its arrays on a device of PyTorch."""
        moved = Graph(self.src.to(device), self.dst.to(device), self.sources, self.destinations,
                      None if self.order is None else self.order.to(device), self.given)
        moved.maps.update({n: (a.to(device), size) for n, (a, size) in self.maps.items() if n not in ("src", "dst")})
        return moved

    def add(self, name, values, size, sorted_=False):
        """A further map of the edges, such as their types, into a space of that size; sorted_: it is in the order of `src`."""
        if name in ("src", "dst"):
            raise ValueError("%s is the graph's own" % name)
        values = values if sorted_ else self.sort(values)
        _must_lie_in(values, int(size), name)
        self.maps[name] = _own(values), int(size)
        return self

    def reverse(self):
        """The graph whose edges lead back; `order` is then of this graph's edges."""
        return Graph.from_edges(self.dst, self.src, (self.destinations, self.sources))

    def arguments(self, params):
        """Of an op's parameters, by name: the maps that this graph has, and the sizes that they tell."""
        values, sizes = {}, {}
        for p in params:
            if p.role != "map" or p.name not in self.maps:
                continue
            values[p.name], size = self.maps[p.name]
            for space, n in ((p.into, size), *zip(p.axes, values[p.name].shape)):
                if sizes.setdefault(space, n) != n:
                    raise ValueError("the graph has %d and %d for the size of %s" % (sizes[space], n, space))
        return values, sizes
