"""Graphs of the gallery, what else an op takes of them, and values. NumPy alone; the same numbers on every machine.

A case names the structures that its maps are (`maps`, where a parameter is not called like one), the shapes of its tensors as
words, spaces or numbers, and the sizes of spaces that no structure has."""
import importlib.util
import os
import sys
import zlib

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.environ.get("GALLERY", HERE)   # of the ops
sys.path.insert(0, HERE)
sys.path.append(os.path.join(os.path.dirname(HERE), "family"))
import graphs as family  # noqa: E402

FLOATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
TYPES = 8   # of edges and nodes


def rng_of(*words):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


# ---- Graphs -----------------------------------------------------------------------------------------------------
# Some 500,000 edges each, none from a node to itself. `star`: two nodes have half a million edges between them.


def _family(kind, **how):
    family.SPECS["_"] = kind, how
    rowptr, col = family.make("_", on=(np, {}))
    return np.repeat(np.arange(len(rowptr) - 1), np.diff(rowptr)), col.astype(np.int64), len(rowptr) - 1


def road(by):
    side = max(int(354 / by ** 0.5), 4)
    return _family("grid", side=side, edges=4 * side * (side - 1))


def powerlaw(by):
    scale = max(15 - int(by).bit_length() + 1, 5)
    return _family("rmat", scale=scale, edges=16 << scale if scale > 6 else 4 << scale)


def molecules(by):
    return _family("batch", graphs=max(4096 // by, 2), nodes=30, edges=124)


def star(by):
    """Node 0 hears all, node 1 tells all; the others form a ring."""
    n = max(170_000 // by, 24)
    others = np.arange(2, n)
    ring = np.roll(others, 1)
    return np.concatenate([np.zeros_like(others), others, others]), np.concatenate([others, np.ones_like(others), ring]), n


def typed(by):
    """Degrees of a citation graph; rows without edges."""
    n = max(72_000 // by, 60)
    edges = max(500_000 // by, 400)
    return _family("skewed", nodes=n, edges=edges, most=max(6_000 // by, 40))


def dense(by):
    """Nine in ten of all pairs."""
    n = max(int(745 / by ** 0.5), 12)
    row, col = (a.reshape(-1) for a in np.indices((n, n)))
    keep = rng_of("dense", n).random(n * n) < 0.9
    return row[keep], col[keep], n


GRAPHS = dict(road=road, powerlaw=powerlaw, molecules=molecules, star=star, typed=typed, dense=dense)


class Graph:
    """Edges sorted by dst, and structures made of them when they are asked for."""

    def __init__(self, name, by=1):
        self.name, self.by = name, by
        dst, src, self.N = GRAPHS[name](by)
        keep = dst != src
        dst, src = dst[keep], src[keep]
        order = np.lexsort((src, dst))
        self.dst, self.src = dst[order], src[order]
        self.E = len(self.dst)
        self.rowptr = np.searchsorted(self.dst, np.arange(self.N + 1))
        self.made = {}

    def structure(self, name):
        """(spaces of the indices, the space led to, values), the spaces as {name: size}."""
        if name not in self.made:
            self.made[name] = globals()["make_" + name](self)
        return self.made[name]


# ---- Structures -------------------------------------------------------------------------------------------------
# Each: the index spaces, the space it leads to with its size (None: another tells), the map.


def make_src(g):
    return ["E"], "N", g.src


def make_dst(g):
    return ["E"], "N", g.dst


def make_etype(g):
    """Types of edges, the first ones the most frequent."""
    return ["E"], "R", (TYPES * rng_of("etype").random(g.E) ** 2).astype(np.int64)


def make_ntype(g):
    return ["N"], "S", (TYPES * rng_of("ntype").random(g.N) ** 2).astype(np.int64)


def make_label(g):
    return ["N"], "C", rng_of("label").integers(0, TYPES, g.N)


def make_batch(g):
    """Graphs of a batch: 30 nodes each where the graph is one, else of 1 to 60 in a row, and some of none."""
    if g.name == "molecules":
        return ["N"], "G", np.arange(g.N) // 30
    ends = np.cumsum(rng_of("batch").integers(0, 61, g.N // 30 + 2))
    return ["N"], "G", np.minimum(np.searchsorted(ends, np.arange(g.N), side="right"), len(ends))


def mates(g):
    """All pairs of nodes of a graph of the batch."""
    batch = g.structure("batch")[2]
    begin, end = np.searchsorted(batch, batch), np.searchsorted(batch, batch, side="right")
    a = np.repeat(np.arange(g.N), end - begin)
    b = np.arange(len(a)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin) + begin[a]
    g.made["mate_a"], g.made["mate_b"] = (["J"], "N", a), (["J"], "N", b)


def make_mate_a(g):
    mates(g)
    return g.made["mate_a"]


def make_mate_b(g):
    mates(g)
    return g.made["mate_b"]


def make_circle(g, D=8):
    return ["D", "D"], "D", (np.arange(D)[:, None] + np.arange(D)) % D


def make_cluster(g):
    """Nodes in no order, a quarter as many clusters."""
    return ["N"], "C", rng_of("cluster").integers(0, max(g.N // 4, 1), g.N)


def make_back(g):
    """The edge in the other direction, or none."""
    key, want = g.dst * g.N + g.src, g.src * g.N + g.dst
    at = np.minimum(np.searchsorted(key, want), g.E - 1)
    return ["E"], "E", np.where(key[at] == want, at, -1)


def pairs(g, most=4):
    """Edges a and b with dst[b] == src[a] and src[b] != dst[a], at most so many of an a."""
    first, second = [], []
    begin, size = g.rowptr[g.src], g.rowptr[g.src + 1] - g.rowptr[g.src]
    for k in range(most):
        a = np.nonzero(size > k)[0]
        b = begin[a] + (k * 7 + a) % size[a] if k == 0 else begin[a] + ((a % size[a]) + k) % size[a]
        first.append(a)
        second.append(b)
    first, second = np.concatenate(first), np.concatenate(second)
    keep = g.src[second] != g.dst[first]
    first, second = first[keep], second[keep]
    order = np.lexsort((second, first))
    return first[order], second[order]


def make_first(g):
    g.made["first"], g.made["second"] = ((["P"], "E", m) for m in pairs(g))
    return g.made["first"]


def make_second(g):
    make_first(g)
    return g.made["second"]


def joins(g):
    """All edges a and b with dst[b] == src[a]."""
    each = (g.rowptr[1:] - g.rowptr[:-1])[g.src]
    a = np.repeat(np.arange(g.E), each)
    b = np.arange(len(a)) - np.repeat(np.cumsum(each) - each, each) + g.rowptr[g.src[a]]
    g.made["join_a"], g.made["join_b"] = (["J"], "E", a), (["J"], "E", b)


def make_join_a(g):
    joins(g)
    return g.made["join_a"]


def make_join_b(g):
    joins(g)
    return g.made["join_b"]


def make_face(g):
    """Triangles: a node and two of its neighbours, every other edge."""
    e = np.arange(0, g.E - 1, 2)
    e = e[(g.dst[e] == g.dst[e + 1]) & (g.src[e] != g.src[e + 1])]
    return ["M", 3], "N", np.stack([g.dst[e], g.src[e], g.src[e + 1]], 1)


def make_quad(g):
    """Four different nodes in a chain, as the ends of an edge and of two more next to it."""
    first, second = pairs(g, 1)
    k, j, i = g.src[second], g.src[first], g.dst[first]
    last = rng_of("quad").integers(0, g.N, len(k))
    keep = (k != j) & (j != i) & (k != i) & (last != i) & (last != j) & (last != k)
    return ["M", 4], "N", np.stack([k, j, i, last], 1)[keep]


def make_nb(g, J=8):
    """So many others near each node in number, as the k nearest are."""
    near = np.arange(g.N)[:, None] + rng_of("nb").integers(1, min(64, g.N), (g.N, J))
    return ["N", J], "N", near % g.N


def make_neg(g, J=4):
    """Nodes at random for each edge."""
    return ["E", J], "N", rng_of("neg").integers(0, g.N, (g.E, J))


def make_walk(g, L=8):
    """A walk of so many nodes from each node, which stays where there is no way on."""
    draws, walk = rng_of("walk"), [np.arange(g.N)]
    for _ in range(L - 1):
        at = walk[-1]
        size = g.rowptr[at + 1] - g.rowptr[at]
        e = np.minimum(g.rowptr[at] + (draws.random(g.N) * size).astype(np.int64), g.E - 1)
        walk.append(np.where(size > 0, g.src[e], at))
    return ["N", L], "N", np.stack(walk, 1)


def make_field(g, J=8):
    """So many words of a vocabulary a node, as the fields of a record."""
    return ["N", J], "W", (1000 * rng_of("field").random((g.N, J)) ** 3).astype(np.int64)


def make_parent(g):
    """A forest: the parent of each node, or none, stands before it."""
    at = np.arange(g.N)
    return ["N"], "N", np.where(at % 30 == 0, -1, at - at % 30 + (at % 30 - 1) // 2)


def make_knot(g, knots=8):
    """Between which knots an edge lies: the lower one of so many."""
    return ["E"], "A", rng_of("knot").integers(0, knots - 1, g.E)


def make_knot1(g, knots=8):
    return ["E"], "A", make_knot(g, knots)[2] + 1


def halves(g):
    positive = rng_of("halves").random(g.E) < 0.7
    for k, which in ((1, positive), (2, ~positive)):
        g.made["src%d" % k] = ["E%d" % k], "N", g.src[which]
        g.made["dst%d" % k] = ["E%d" % k], "N", g.dst[which]


def make_src1(g):
    halves(g)
    return g.made["src1"]


def make_dst1(g):
    halves(g)
    return g.made["dst1"]


def make_src2(g):
    halves(g)
    return g.made["src2"]


def make_dst2(g):
    halves(g)
    return g.made["dst2"]


# How large a space is that a structure leads to, and nothing else has.
LARGEST = dict(R=TYPES, S=TYPES, W=1000, A=8)


# ---- Cases ------------------------------------------------------------------------------------------------------


def names():
    return sorted(f[:-4] for f in os.listdir(FOLDER) if f.endswith(".gnn"))


def module(name):
    spec = importlib.util.spec_from_file_location("gallery_" + name, os.path.join(FOLDER, name + ".py"))
    made = importlib.util.module_from_spec(spec)
    sys.modules["gallery_" + name] = made   # torch.compile looks for a function's module by its name
    spec.loader.exec_module(made)
    return made


def suits(name, which):
    """Whether an op is run on a graph."""
    return which in module(name).CASE.get("graphs", " ".join(GRAPHS)).split()


class Case:
    """An op on a graph: its maps by parameter, the sizes of its spaces, and its tensors, made when asked for."""

    def __init__(self, name, graph):
        self.name, self.graph = name, graph
        self.module = module(name)
        given = self.module.CASE
        self.wrt = given["wrt"].split()
        self.small = dict(given.get("sizes", {}))        # known when compiling
        self.spaces = {}                                 # the others
        self.shapes = {p: shape.split() for p, shape in given["shapes"].items()}
        self.ranges, self.types = given.get("ranges", {}), given.get("types", {})
        self.maps = {}
        for entry in given.get("maps", "src dst").split():
            self._map(*entry.partition("=")[::2])
        for space in ("N", "E"):
            if any(space in shape for shape in self.shapes.values()):
                self.spaces.setdefault(space, getattr(graph, space))
        self.spaces = {s: n for s, n in self.spaces.items() if s not in self.small}
        self.also = {s: graph.structure(s)[2] for s in given.get("also", "").split()}   # of the formula alone
        self.size = {**self.small, **self.spaces}

    def _map(self, parameter, how):
        """`p`, `p=structure`, or `p=structure:DOMAIN->CODOMAIN`, where the op calls spaces otherwise."""
        structure, _, renamed = how.partition(":")
        spaces, led, values = self.graph.structure(structure or parameter)
        if renamed:
            first, led = renamed.split("->")
            spaces = [first, *spaces[1:]]
        for space, size in zip(spaces, values.shape):
            if isinstance(space, str):
                self.spaces[space] = size
        if led not in self.spaces:
            self.spaces[led] = {"N": self.graph.N, "E": self.graph.E}.get(led) or max(
                LARGEST.get(led, 0), int(values.max(initial=-1)) + 1)
        self.maps[parameter] = values

    def shape_of(self, words):
        return tuple(int(w) if w.isdigit() else self.size[w] for w in words)

    def tensor(self, parameter, dtype):
        """dtype: f16, f32, f64; the kind of a tensor of something else is that of `types`."""
        shape = self.shape_of(self.shapes[parameter])
        draws, kind = rng_of(self.name, parameter), self.types.get(parameter)
        if kind == "bool":
            return draws.random(shape) < self.ranges.get(parameter, 0.5)
        low, high = self.ranges.get(parameter, (-1, 1))
        if kind in ("i64", "i32"):
            return draws.integers(low, high, shape).astype(dict(i64=np.int64, i32=np.int32)[kind])
        return (draws.random(shape, np.float32) * (high - low) + low).astype(FLOATS[kind or dtype])

    def tensors(self, dtype):
        return {p: self.tensor(p, dtype) for p in self.shapes}

    def save_all(self, folder, dtype, more=()):
        """{parameter: file}: maps once a graph, tensors of this op; more: (name, array)."""
        os.makedirs(folder, exist_ok=True)
        files = {}
        for p, values in self.maps.items():
            files[p] = os.path.join(folder, "%s.%s.npy" % (self.name, p))
            np.save(files[p], values.astype(np.int32))
        for p, values in (*((p, self.tensor(p, dtype)) for p in self.shapes), *more):
            files[p] = os.path.join(folder, "%s.%s.npy" % (self.name, p))
            np.save(files[p], values)
        return files
