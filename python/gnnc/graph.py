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
        if nodes is None:
            most = [int(a.max()) + 1 if len(a) else 0 for a in (src, dst)]
            nodes = max(most)
        sources, destinations = nodes if isinstance(nodes, (tuple, list)) else (nodes, nodes)
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
        return cls.from_edges(edge_index[0], edge_index[1], nodes, self_loops)

    @classmethod
    def of(cls, graph, nodes=None, self_loops=False):
        """Of what other packages have: an edge index of two rows, a pair of arrays, PyG's Data, EdgeIndex and SparseTensor, DGL's
        graphs, SciPy's sparse matrices (rows are destinations), NetworkX's graphs."""
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
        if hasattr(graph, "edge_index") and not _is_tensor(graph):
            return cls.from_edge_index(graph.edge_index, graph.num_nodes if nodes is None else nodes, self_loops)
        if type(graph).__name__ == "EdgeIndex":
            if nodes is None and graph.num_rows is not None and graph.num_cols is not None:
                nodes = graph.num_rows, graph.num_cols
            graph = graph.as_tensor()
        if isinstance(graph, (tuple, list)):
            return cls.from_edges(graph[0], graph[1], nodes, self_loops)
        return cls.from_edge_index(graph, nodes, self_loops)

    # ---- What goes along ------------------------------------------------------------------------
    def sort(self, values, loops=None):
        """Values of the edges that were given, in the order of `src` and `dst`. loops: the value of edges that were added."""
        if len(values) != self.given:
            raise ValueError("there are %d edges, and %d values" % (self.given, len(values)))
        if self.edges != self.given:
            if loops is None:
                raise ValueError("self loops were added, whose value is not given: loops=…")
            n = self.edges - self.given
            more = values.new_full((n, *values.shape[1:]), loops) if _is_tensor(values) else \
                _numpy().full((n, *values.shape[1:]), loops, values.dtype)
            values = _joined(values, more)
        return values if self.order is None else values[self.order]

    def add(self, name, values, size, sorted_=False):
        """A further map of the edges, such as their types, into a space of that size; sorted_: it is in the order of `src`."""
        values = values if sorted_ else self.sort(values)
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
