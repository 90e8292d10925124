"""Along features: reductions, concatenations, linear functions; dropout and casts."""
import torch

from .by_torch import by_torch
from .functions import TYPES, Unknown, dtype_of
from .tensor import HANDLERS, OF_OTHERS, Lazy, Node, axis_of, elementwise, labels, node_of, operand
from .views import without


# ---- Concatenations, and linear functions of them ----------------------------------------------------
def _cat(scene, tensors, dim=0):
    """Parts side by side, which a linear function takes apart again, and a value copies."""
    tensors = list(tensors)
    rank = max(t.dim() for t in tensors)
    dim = axis_of(rank, dim)
    axes = next(t._node.axes for t in tensors if isinstance(t, Lazy))
    nodes = []
    for t in tensors:
        if t.dim() != rank:
            raise Unknown("a concatenation of nothing")
        if isinstance(t, Lazy) and t._value is None and t._node.kind == "cat" and t._node.data == (dim,):
            nodes += t._node.args
        elif isinstance(t, Lazy):
            nodes.append(operand(scene, t, axes))
        else:
            nodes.append(scene.leaf(t, labels(scene, t.shape, axes)))
    first = nodes[0]
    for n in nodes:
        if n.kind in ("map", "pair") or n.dtype != first.dtype or n.axes[dim].__class__ is str or \
                n.axes[:dim] + n.axes[dim + 1:] != first.axes[:dim] + first.axes[dim + 1:]:
            raise Unknown("a concatenation of edges")
    if len(nodes) == 1:
        return Lazy.make(scene, first)
    axes = first.axes[:dim] + (sum(n.axes[dim] for n in nodes),) + first.axes[dim + 1:]
    return Lazy.make(scene, Node.of("cat", nodes, (dim,), axes, first.dtype))


def _stack(scene, tensors, dim=0):
    dim = axis_of(tensors[0].dim() + 1, dim)
    return _cat(scene, [t.unsqueeze(dim) for t in tensors], dim)


# Of a linear function that is part of the op, by device: wider ones are PyTorch's, whose products of matrices are faster then.
_WIDE = {"cuda": 64, "cpu": 8}


def _linear(scene, x, weight, bias=None):
    """A linear function of rows of nodes is computed before they are gathered, as there are fewer of them: by PyTorch. So is each such
    part of a concatenation; of the others it is part of the op, also of x_j - x_i: what x_i and x_j have in common would not cancel."""
    if isinstance(weight, Lazy) or isinstance(bias, Lazy) or not isinstance(x, Lazy) or weight.dim() != 2:
        raise Unknown("a linear function")
    if torch.is_autocast_enabled(scene.device.type):
        raise Unknown("a linear function under autocast")
    whole = scene.leaf(weight, tuple(weight.shape)).data[0]
    node = node_of(x, concatenated=True)
    is_cat = node.kind == "cat" and node.data == (len(node.axes) - 1,)
    if node.axes[-1] != weight.shape[1]:
        raise Unknown("a linear function of another width")
    made, begin = None, 0
    for n in node.args if is_cat else (node,):
        count = n.axes[-1]
        if n.kind in ("map", "pair", "cat") or count.__class__ is not int:
            raise Unknown("a linear function of edges or nodes")
        part = _linear_part(scene, n, whole, weight, slice(begin, begin + count) if is_cat else None)
        begin += count
        made = part if made is None else made + part
    return made if bias is None else made + bias


def _linear_part(scene, node, whole, weight, columns):
    """columns: those of the weight, whose slot is `whole`, that are of this part; None: all."""
    wide = weight.shape[0]
    if node.kind == "gather" and _is_seen(node.args[0]) and node.data[0] != len(node.axes) - 1:
        inner = node.args[0]

        def rows(scene):
            w = scene.leaves[whole]
            return torch.nn.functional.linear(by_torch(scene, [inner])[0], w if columns is None else w[:, columns])
        leaf = scene.leaf(rows(scene), inner.axes[:-1] + (wide,))
        scene.origins[leaf.data[0]] = "made", rows
        return Lazy.make(scene, Node.of("gather", (leaf,), node.data, node.axes[:-1] + (wide,), node.dtype))
    if max(wide, node.axes[-1]) > _WIDE[scene.device.type]:
        raise Unknown("a linear function of %d to %d features of edges" % (node.axes[-1], wide))
    return (Lazy.make(scene, node).unsqueeze(-2) * (weight if columns is None else _packed(scene, whole, columns))).sum(-1)


def _packed(scene, whole, columns):
    """Columns of a matrix: what reads them for each edge is faster on a copy than the copy is slow."""
    def packed(scene):
        return scene.leaves[whole][:, columns].contiguous()
    made = packed(scene)
    scene.origins[scene.leaf(made, tuple(made.shape)).data[0]] = "made", packed
    return made


def _is_seen(node):
    """Whether a node is a view of what is there."""
    return node.kind == "leaf" or node.kind in ("ones", "slice", "permute") and _is_seen(node.args[0])


def _matmul(scene, a, b):
    """Products of small matrices, one for each edge."""
    if a.dim() < 2 or b.dim() < 2 or max(*a.shape[1:][-2:], *b.shape[-2:]) > _WIDE[scene.device.type] or a.shape[-1] != b.shape[-2]:
        raise Unknown("a product of matrices")
    if torch.is_autocast_enabled(scene.device.type):
        raise Unknown("a product of matrices under autocast")
    a, b = [t if isinstance(t, Lazy) else Lazy.make(scene, scene.leaf(t, tuple(t.shape))) for t in (a, b)]
    return (a.unsqueeze(-1) * b.unsqueeze(-3)).sum(-2)


# ---- Along features -----------------------------------------------------------------------------------
def _fold(fold):
    def made(scene, x, dim=None, keepdim=False, *, dtype=None):
        node = node_of(x)
        if dim is None or dtype is not None or node.kind in ("map", "pair") or not node.dtype.is_floating_point:
            raise Unknown("a reduction of all")
        dims = sorted({axis_of(len(node.axes), d) for d in (dim if isinstance(dim, (tuple, list)) else (dim,))})
        if not dims or any(node.axes[d].__class__ is str or node.axes[d] == 0 for d in dims):
            raise Unknown("a reduction along edges")
        axes = tuple(1 if k in dims else a for k, a in enumerate(node.axes))
        dtype = node.dtype
        if torch.is_autocast_enabled(scene.device.type):
            dtype = dtype_of(getattr(torch, {"max": "amax", "min": "amin"}.get(fold, fold)), (node,), (0,), scene.device)
        made = Node.of("fold", (node,), (fold, tuple(dims)), axes, dtype)
        for d in reversed(() if keepdim else dims):
            made = without(made, d)
        return Lazy.make(scene, made)
    return made


def _softmax(scene, x, dim=None, _stacklevel=3, dtype=None):
    if dim is None or dtype is not None:
        raise Unknown("softmax")
    exp = torch.exp(x - x.detach().amax(dim, keepdim=True))
    return exp / exp.sum(dim, keepdim=True)


def _dropout(scene, x, p=0.5, training=True):
    """What falls out is drawn by PyTorch, as it would draw for the tensor itself."""
    if not training or p == 0:
        return x
    node = node_of(x)
    axes, dtype = node.axes, x.dtype

    def drawn(scene):
        return torch.nn.functional.dropout(torch.ones(scene.shape(axes), dtype=dtype, device=scene.device), p, True)
    mask = scene.leaf(drawn(scene), axes)
    scene.origins[mask.data[0]] = "made", drawn
    return elementwise(scene, "mul", torch.mul, (x, Lazy.make(scene, mask)), {})


def _to(scene, x, *args, **kwargs):
    args = [a for a in (*args, *kwargs.values()) if not (a is None or a is False or a is torch.preserve_format)]
    dtype = [a for a in args if isinstance(a, torch.dtype)]
    if len(args) != len(dtype) or len(dtype) > 1:
        raise Unknown("to another place")
    return _cast(scene, x, dtype[0] if dtype else x.dtype)


def _cast(scene, x, dtype):
    node = node_of(x)
    if dtype not in TYPES or node.kind in ("map", "pair"):
        raise Unknown(str(dtype))
    return x if dtype == node.dtype else Lazy.make(scene, Node.of("op", (node,), ("cast", (dtype,)), node.axes, dtype))


HANDLERS.update({
    "cat": _cat, "concat": _cat, "concatenate": _cat, "stack": _stack, "linear": _linear,
    "matmul": _matmul, "bmm": _matmul,
    "sum": _fold("sum"), "mean": _fold("mean"), "amax": _fold("max"), "amin": _fold("min"), "softmax": _softmax,
    "dropout": _dropout, "to": _to, "type": _to,
    "float": lambda scene, x: _cast(scene, x, torch.float32), "double": lambda scene, x: _cast(scene, x, torch.float64),
    "half": lambda scene, x: _cast(scene, x, torch.float16), "bfloat16": lambda scene, x: _cast(scene, x, torch.bfloat16),
    "long": lambda scene, x: _cast(scene, x, torch.int64), "type_as": lambda scene, x, y: _cast(scene, x, y.dtype),
})
OF_OTHERS.update(("matmul", "bmm", "cat", "concat", "concatenate", "stack"))
