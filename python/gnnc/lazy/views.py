"""Views of lazy tensors: other axes of the same elements."""
import itertools

import torch

from .functions import Unknown
from .tensor import HANDLERS, WIDEST, Lazy, Node, axis_of, const, node_of


def view_of(x, node):
    made = Lazy.make(x._scene, node)
    made._views = x._views = True
    return made


def _around(node, axes, dim, inner):
    """A gather whose nodes are seen otherwise; dim: where the axis of edges is then."""
    return Node.of("gather", (inner,), (dim, node.data[1]), axes, node.dtype)


def with_one(node, axis):
    """With an axis of one point before that axis."""
    axes = node.axes[:axis] + (1,) + node.axes[axis:]
    if node.kind == "const":
        return const(node.data[1], node.dtype, axes)
    if node.kind == "gather":
        return _around(node, axes, node.data[0] + (axis <= node.data[0]), with_one(node.args[0], axis))
    return Node.of("ones", (node,), (), axes, node.dtype)


def without(node, axis):
    """Without an axis of one point."""
    axes = node.axes[:axis] + node.axes[axis + 1:]
    if node.kind == "const":
        return const(node.data[1], node.dtype, axes)
    if node.kind == "gather" and node.args[0].axes[axis] == 1 and axis != node.data[0]:
        return _around(node, axes, node.data[0] - (axis < node.data[0]), without(node.args[0], axis))
    return Node.of("ones", (node,), (), axes, node.dtype)


def sliced(node, axis, begin, count):
    """Some of the points of an axis."""
    axes = node.axes[:axis] + (count,) + node.axes[axis + 1:]
    if node.kind == "const":
        return const(node.data[1], node.dtype, axes)
    if axes == node.axes:
        return node
    if node.kind == "gather" and axis != node.data[0]:
        return _around(node, axes, node.data[0], sliced(node.args[0], axis, begin, count))
    return Node.of("slice", (node,), (axis, begin), axes, node.dtype)


def _unsqueeze(scene, x, dim):
    if x._node.kind == "map":
        letter, axis = x._node.data
        dim = axis_of(x.dim() + 1, dim)
        return index_view(x, x._node.axes[:dim] + (1,) + x._node.axes[dim:], letter, axis + (dim <= axis))
    node = node_of(x)
    return view_of(x, with_one(node, axis_of(len(node.axes) + 1, dim)))


def index_view(x, axes, letter, axis):
    made = Lazy.make(x._scene, Node.of("map", (), (letter, axis), axes, x.dtype))
    made._value = x._value.reshape([-1 if k == axis else 1 for k in range(len(axes))]).expand(made.shape)
    return made


def _squeeze(scene, x, dim=None):
    node = node_of(x)
    if dim is None or isinstance(dim, (tuple, list)) or node.kind in ("map", "pair"):
        raise Unknown("squeeze")
    dim = axis_of(len(node.axes), dim)
    if node.axes[dim] != 1:
        if node.axes[dim].__class__ is str and scene.sizes[node.axes[dim]] == 1:
            raise Unknown("one edge")
        return x
    return view_of(x, without(node, dim))


def _reshape(scene, x, *shape, **kwargs):
    shape = kwargs.get("size", kwargs.get("shape", shape))
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = shape[0]
    if isinstance(shape, torch.dtype) or not all(isinstance(n, int) for n in shape):
        raise Unknown("a view as another type")
    shape, size = list(shape), x.numel()
    if shape.count(-1) == 1:
        rest = 1
        for n in shape:
            rest *= n if n != -1 else 1
        if not rest or size % rest:
            raise Unknown("a shape")
        at = shape.index(-1)
        shape[at] = size // rest
    if x._node.kind == "map":
        letter, axis = x._node.data
        long = [k for k, n in enumerate(shape) if n != 1]
        if x.dim() != 1 or len(long) != 1:
            raise Unknown("a view of an index")
        return index_view(x, tuple("E" if k == long[0] else 1 for k in range(len(shape))), letter, long[0])
    node = node_of(x)
    if size == 0 or node.kind == "pair":
        raise Unknown("nothing")
    return view_of(x, _reshaped(scene, node, _groups(scene, node.axes, shape)))


def _groups(scene, axes, shape):
    """Of a reshape: pairs of axes before and axes after, whose products are equal; those of letters stand alone."""
    old, new = [a for a in axes], list(shape)
    made, i, j = [], 0, 0
    size = lambda a: scene.sizes[a] if a.__class__ is str else a
    while i < len(old) or j < len(new):
        a, b = [], []
        if i < len(old):
            a.append(old[i])
            i += 1
        if j < len(new) and (not a or size(a[0]) != 1 or new[j] == 1):
            b.append(new[j])
            j += 1
        p = q = 1
        for n in a:
            p *= size(n)
        for n in b:
            q *= n
        while p != q:
            if p < q:
                if i >= len(old):
                    raise Unknown("a shape")
                a.append(old[i])
                p *= size(old[i])
                i += 1
            else:
                if j >= len(new):
                    raise Unknown("a shape")
                b.append(new[j])
                q *= new[j]
                j += 1
        letters = [n for n in a if n.__class__ is str]
        if letters:
            wide = [n for n in b if n != 1]
            if len([n for n in a if n != 1]) > 1 or len(wide) > 1 or size(letters[0]) == 1:
                raise Unknown("edges beside features")
            b = [letters[0] if n != 1 else 1 for n in b]
        made.append((tuple(a), tuple(b)))
    return tuple(made)


def _reshaped(scene, node, groups):
    axes = tuple([n for _, b in groups for n in b])
    if node.kind == "const":
        return const(node.data[1], node.dtype, axes)
    if all([n for n in a if n != 1] == [n for n in b if n != 1] for a, b in groups):   # axes of one element alone
        return node if axes == node.axes else Node.of("ones", (node,), (), axes, node.dtype)
    if node.kind == "leaf":
        made = scene.leaf(scene.leaves[node.data[0]].reshape(scene.shape(axes)), axes)
        scene.origins.setdefault(made.data[0], ("slot", node.data[0], axes))
        return made
    if node.kind in ("gather", "lookup"):
        dim = node.data[0]
        at, inner, axis = 0, [], None
        for a, b in groups:
            if at <= dim < at + len(a):
                origin = node.args[0].axes[dim]
                inner.append((tuple(origin if n == "E" else n for n in a), tuple(origin if n == "E" else n for n in b)))
                axis = sum(len(g[1]) for g in inner[:-1]) + [n == "E" for n in b].index(True)
            else:
                inner.append((a, b))
            at += len(a)
        made = _reshaped(scene, node.args[0], tuple(inner))
        return Node.of(node.kind, (made, *node.args[1:]), (axis, *node.data[1:]), axes, node.dtype)
    if node.kind == "op":
        return Node.of("op", [_reshaped_operand(scene, a, len(node.axes), groups) for a in node.args], node.data, axes, node.dtype)
    if node.kind == "ones":
        return _reshaped_ones(scene, node, groups, axes)
    if node.kind in ("fold", "segment"):
        return _reshaped_reduction(scene, node, groups, axes)
    raise Unknown("a view of what was reduced")


def _reshaped_ones(scene, node, groups, axes):
    """What has the same elements is seen otherwise; its own axes of one point stay."""
    rest, inner = list(node.args[0].axes), []
    for a, b in groups:
        long = tuple(n for n in a if n != 1)
        if not long:
            continue
        while rest[0] == 1:
            inner.append(((rest.pop(0),), (1,)))
        own = []
        while [n for n in own if n != 1] != list(long):
            own.append(rest.pop(0))
        inner.append((tuple(own), tuple(n for n in b if n != 1)))
    inner += [((n,), (n,)) for n in rest]
    made = _reshaped(scene, node.args[0], tuple(inner))
    return made if made.axes == axes else Node.of("ones", (made,), (), axes, node.dtype)


def _reshaped_reduction(scene, node, groups, axes):
    """What is reduced is seen otherwise; the axes that are reduced stand alone."""
    inner, outer, reduced, at = [], [], [], 0
    dims = node.data[1] if node.kind == "fold" else node.data[:1]
    for a, b in groups:
        mine = [k for k in range(at, at + len(a)) if k in dims]
        if not mine:
            inner.append((node.args[0].axes[at:at + len(a)], b))
            outer += b
        else:
            alone = [k for k in range(at, at + len(a)) if node.axes[k] != 1 and k not in mine]
            if alone and (node.kind == "segment" or mine != list(range(mine[0], mine[-1] + 1)) or alone[-1] > mine[0] > alone[0]):
                raise Unknown("a view of what was reduced")
            rest = tuple(node.axes[k] for k in alone), tuple(n for n in b if n != 1)
            taken = [((node.args[0].axes[k],), (node.args[0].axes[k],)) for k in mine]
            behind = bool(alone) and alone[0] > mine[0]
            if alone and not behind:
                inner.append(rest)
                outer += rest[1]
            reduced += range(len(outer), len(outer) + len(mine))
            inner += taken
            outer += [node.axes[k] for k in mine]
            if behind:
                inner.append(rest)
                outer += rest[1]
        at += len(a)
    made = _reshaped(scene, node.args[0], tuple(inner))
    data = (node.data[0], tuple(reduced)) if node.kind == "fold" else (reduced[0], *node.data[1:])
    made = Node.of(node.kind, (made,), data, tuple(outer), node.dtype)
    return made if made.axes == axes else Node.of("ones", (made,), (), axes, node.dtype)


def _reshaped_operand(scene, node, rank, groups):
    """An operand of an elementwise function whose result is reshaped."""
    lacks, at, made = rank - len(node.axes), 0, []
    for a, b in groups:
        own = tuple([node.axes[k - lacks] if k >= lacks else None for k in range(at, at + len(a))])
        at += len(a)
        if len(a) == 1 and own == (None,) and len(b) == 1:
            continue
        mine = tuple(1 if n is None else n for n in own)
        if mine == a:
            made.append((tuple(n for n in own if n is not None), b))
        elif all(n == 1 for n in mine):
            made.append((tuple(n for n in own if n is not None), tuple(1 for _ in b)))
        else:
            raise Unknown("a view of a broadcast")
    return _reshaped(scene, node, tuple(made)) if node.axes or made else node


def _flatten(scene, x, start_dim=0, end_dim=-1):
    begin, end = axis_of(x.dim(), start_dim), axis_of(x.dim(), end_dim)
    return _reshape(scene, x, tuple(x.shape[:begin]) + (-1,) + tuple(x.shape[end + 1:]))


def _expand(scene, x, *shape):
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    return _expanded(scene, x, tuple(shape), None)


def _expand_as(scene, x, other):
    return _expanded(scene, x, tuple(other.shape), other._node.axes if isinstance(other, Lazy) else None)


def _expanded(scene, x, shape, like):
    lacks = len(shape) - x.dim()
    if lacks < 0:
        raise Unknown("expand")
    node, axes = x._node, []
    for k, n in enumerate(shape):
        a = node.axes[k - lacks] if k >= lacks else 1
        if a != 1 or n in (-1, 1):
            if n not in (-1, scene.sizes[a] if a.__class__ is str else a):
                raise Unknown("expand")
            axes.append(a)
        else:
            axes.append(like[k] if like is not None else n)
    axes = tuple(axes)
    if node.kind == "map":
        letter, axis = node.data
        made = Lazy.make(scene, Node.of("map", (), (letter, axis + lacks), axes, node.dtype))
        made._value = x._value.expand(made.shape)
        return made
    node = node_of(x)
    if any(a.__class__ is int and a > WIDEST for a in axes):
        raise Unknown("a long axis")
    if node.kind == "const":
        return view_of(x, const(node.data[1], node.dtype, axes))
    return view_of(x, Node.of("expand", (node,), (), axes, node.dtype))


def _permute(scene, x, *dims):
    dims = dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims
    node = node_of(x)
    dims = tuple(axis_of(len(node.axes), d) for d in dims)
    if node.kind in ("map", "pair") or len(dims) != len(node.axes):
        raise Unknown("permute")
    return view_of(x, Node.of("permute", (node,), dims, tuple(node.axes[d] for d in dims), node.dtype))


def _transpose(scene, x, dim0, dim1):
    dims = list(range(x.dim()))
    a, b = axis_of(x.dim(), dim0), axis_of(x.dim(), dim1)
    dims[a], dims[b] = dims[b], dims[a]
    return _permute(scene, x, dims)


def _chunk(scene, x, chunks, dim=0):
    node = node_of(x)
    dim = axis_of(len(node.axes), dim)
    n = node.axes[dim]
    if n.__class__ is str or n % chunks:
        raise Unknown("chunks")
    return tuple(view_of(x, sliced(node, dim, k * (n // chunks), n // chunks)) for k in range(chunks))


def _split(scene, x, split_size_or_sections, dim=0):
    node = node_of(x)
    dim = axis_of(len(node.axes), dim)
    n, parts = node.axes[dim], split_size_or_sections
    if n.__class__ is str:
        raise Unknown("a split of edges")
    parts = [min(parts, n - k) for k in range(0, n, parts)] if isinstance(parts, int) else list(parts)
    begins = list(itertools.accumulate([0, *parts]))
    if begins[-1] != n or 0 in parts:
        raise Unknown("a split")
    return tuple(view_of(x, sliced(node, dim, b, p)) for b, p in zip(begins, parts))


def _same(scene, x, *args, **kwargs):
    if args or any(v not in (None, torch.contiguous_format, torch.preserve_format) for v in kwargs.values()):
        raise Unknown("a memory format")
    return Lazy.make(scene, node_of(x))


def _contiguous(scene, x, memory_format=torch.contiguous_format):
    if memory_format not in (torch.contiguous_format, torch.preserve_format):
        raise Unknown("a memory format")
    return x


def _detach(scene, x):
    if x._node.kind in ("map", "pair"):
        raise Unknown("an index")
    node = node_of(x)
    return view_of(x, Node.of("op", (node,), ("stop", ()), node.axes, node.dtype))


HANDLERS.update({
    "view": _reshape, "reshape": _reshape, "flatten": _flatten, "unsqueeze": _unsqueeze, "squeeze": _squeeze, "expand": _expand,
    "expand_as": _expand_as, "permute": _permute, "transpose": _transpose, "chunk": _chunk, "split": _split, "contiguous": _contiguous,
    "clone": _same, "detach": _detach,
})
