"""What leads from nodes to edges and back: indexes by a row of the edge index, and sums by one."""
import torch

from .functions import TYPES, Unknown
from .tensor import HANDLERS, OF_OTHERS, WIDEST, Lazy, Node, axis_of, const, is_cat, labels, node_of
from .views import sliced, view_of, with_one, without


def map_of(scene, index):
    """(U or V, which axis of the index is that of edges) of a lazy index."""
    if not isinstance(index, Lazy) or index._scene is not scene or index._node.kind != "map":
        raise Unknown("an index that is no row of the edge index")
    return index._node.data


def _looked_up(scene, x, dim, index):
    """Rows of a table by a tensor of edges, such as their types."""
    if isinstance(x, Lazy) or index.dtype not in (torch.int64, torch.int32) or index._node.axes != ("E",) or node_of(index).kind != "leaf":
        raise Unknown("an index that was computed")
    dim = axis_of(x.dim(), dim)
    if any(n > WIDEST for n in x.shape) or x.shape[dim] < 2:
        raise Unknown("a long table, or a short one")
    nodes = scene.leaf(x, tuple(x.shape)), node_of(index)
    axes = nodes[0].axes
    return Lazy.make(scene, Node.of("lookup", nodes, (dim,), axes[:dim] + ("E",) + axes[dim + 1:], x.dtype))


def _gather(scene, x, dim, index):
    if isinstance(index, Lazy) and index._scene is scene and index._node.kind == "leaf":
        return _looked_up(scene, x, dim, index)
    letter, axis = map_of(scene, index)
    if index.dim() != 1:
        raise Unknown("an index of several axes")
    if isinstance(x, Lazy):
        node = node_of(x)
        dim = axis_of(len(node.axes), dim)
        if node.axes[dim].__class__ is not str or node.axes[dim] == "E":
            raise Unknown("an index into no nodes")
        if node.axes[dim] != letter:
            if scene.sizes[letter] not in (None, scene.sizes[node.axes[dim]]):
                raise Unknown("an index into other nodes")
            scene.settle(letter, scene.sizes[node.axes[dim]])
    else:
        if x.dim() == 0:
            raise Unknown("a number")
        dim = axis_of(x.dim(), dim)
        scene.settle(letter, x.shape[dim])
        plain = tuple([letter if k == dim else n for k, n in enumerate(x.shape)])
        if any(n.__class__ is int and n > WIDEST for n in plain):
            raise Unknown("a long axis")
        node = scene.leaf(x, plain)
    return Lazy.make(scene, Node.of("gather", (node,), (dim, letter), node.axes[:dim] + ("E",) + node.axes[dim + 1:], node.dtype))


def _getitem(scene, x, at):
    if isinstance(x, Lazy) and x._node.kind == "pair":
        if isinstance(at, int) and -2 <= at < 2:
            return _row(scene, at % 2)
        raise Unknown("rows")
    if isinstance(at, Lazy):
        return _gather(scene, x, 0, at)
    if not isinstance(x, Lazy):
        raise Unknown("an index")
    at = at if isinstance(at, tuple) else (at,)
    if x._value is None and x._node.kind == "cat":   # of each part, where that leaves alone along what they stand side by side
        if x._node.data != (x.dim() - 1,) or Ellipsis in [a for a in at if not isinstance(a, slice)] or len(at) - at.count(None) >= x.dim():
            raise Unknown("an index of what was concatenated")
        return torch.cat([Lazy.make(scene, n)[at] for n in x._node.args], -1)
    if any(not (a is None or a is Ellipsis or isinstance(a, (int, slice))) or isinstance(a, bool) for a in at):
        raise Unknown("an index")
    node, used = node_of(x), sum(a is not None and a is not Ellipsis for a in at)
    if Ellipsis in [a for a in at if not isinstance(a, slice)]:
        k = [a is Ellipsis for a in at].index(True)
        at = at[:k] + (slice(None),) * (len(node.axes) - used) + at[k + 1:]
    axis = 0
    for a in at:
        if a is None:
            node = with_one(node, axis)
            axis += 1
        elif a == slice(None):
            axis += 1
        else:
            n = node.axes[axis] if axis < len(node.axes) else "E"
            if n.__class__ is str:
                raise Unknown("a slice of edges")
            if isinstance(a, int):
                if not -n <= a < n:
                    raise Unknown("an index")
                node = without(sliced(node, axis, a % n, 1), axis)
            else:
                begin, end, step = a.indices(n)
                if step != 1 or end <= begin:
                    raise Unknown("a slice")
                node = sliced(node, axis, begin, end - begin)
                axis += 1
    return view_of(x, node)


def _row(scene, k):
    letter = "V" if (k == 1) ^ bool(scene.flow) else "U"
    made = Lazy.make(scene, Node.of("map", (), (letter, 0), ("E",), scene.edges.dtype))
    made._value = scene.edges[k]
    return made


def _unbind(scene, x, dim=0):
    if isinstance(x, Lazy) and x._node.kind == "pair" and dim == 0:
        return _row(scene, 0), _row(scene, 1)
    raise Unknown("unbind")


# ---- Segments ---------------------------------------------------------------------------------------
_FOLDS = {"sum": ("sum", 0), "amax": ("max", 0), "amin": ("min", 0), "prod": ("prod", 1)}


def _segment(scene, base, dim, index, source, fold):
    letter, axis = map_of(scene, index)
    if not isinstance(base, Lazy) or base._node.kind != "const" or not isinstance(source, torch.Tensor):
        raise Unknown("what is added to")
    dim = axis_of(base.dim(), dim)
    name, start = _FOLDS[fold]
    if base._node.data[1] != start or source.dim() != base.dim() or index.shape != source.shape or axis != dim or \
            source.dtype != base.dtype or any(k != dim and m != n for k, (m, n) in enumerate(zip(base.shape, source.shape))):
        raise Unknown("a segment of another shape")
    if is_cat(source) and source._node.data[0] != dim:
        parts = [_segment_node(scene, n, dim, letter, name, base.shape[dim]) for n in source._node.args]
        return torch.cat([Lazy.make(scene, n) for n in parts], source._node.data[0])
    if not isinstance(source, Lazy):
        node = scene.leaf(source, labels(scene, source.shape, ["E" if k == dim else 1 for k in range(source.dim())]))
    else:
        node = node_of(source)
    return Lazy.make(scene, _segment_node(scene, node, dim, letter, name, base.shape[dim]))


def _segment_node(scene, node, dim, letter, name, size):
    if node.kind == "const" and node.axes[dim] == scene.sizes["E"]:
        node = const(node.data[1], node.dtype, node.axes[:dim] + ("E",) + node.axes[dim + 1:])
    if node.axes[dim] != "E":
        raise Unknown("a segment of no edges")
    scene.settle(letter, size)
    return Node.of("segment", (node,), (dim, letter, name), node.axes[:dim] + (letter,) + node.axes[dim + 1:], node.dtype)


def _scatter_add(scene, base, dim, index, src):
    return _segment(scene, base, dim, index, src, "sum")


def _scatter_reduce(scene, base, dim, index, src, reduce, include_self=True):
    if reduce not in _FOLDS or include_self != (reduce in ("sum", "prod")):
        raise Unknown("a reduction")
    return _segment(scene, base, dim, index, src, reduce)


def _filled(scene, x, size, value, dtype=None, device=None, **_):
    size = (size,) if isinstance(size, int) else tuple(size)
    dtype = dtype or x.dtype
    if device is not None and torch.device(device) != x.device or dtype not in TYPES:
        raise Unknown("elsewhere")
    return Lazy.make(scene, const(value, dtype, tuple(int(n) for n in size)))


def _like(value):
    return lambda scene, x, dtype=None, **_: Lazy.make(scene, const(value, dtype or x.dtype, x._node.axes))


def _new(value):
    def made(scene, x, *size, **kwargs):
        size = kwargs.pop("size", size[0] if len(size) == 1 else size)
        return _filled(scene, x, size, value, **kwargs)
    return made


def _new_full(scene, x, size, fill_value, **kwargs):
    if not isinstance(fill_value, (int, float)):
        raise Unknown("a tensor")
    return _filled(scene, x, size, fill_value, **kwargs)


HANDLERS.update({
    "index_select": _gather, "getitem": _getitem, "unbind": _unbind, "iter": _unbind, "scatter_add": _scatter_add,
    "scatter_reduce": _scatter_reduce,
    "new_zeros": _new(0), "new_ones": _new(1), "new_full": _new_full, "zeros_like": _like(0), "ones_like": _like(1),
})
OF_OTHERS.update(("index_select", "getitem"))
