"""Tensors of edges that are not computed yet.

What PyTorch's functions do with them is noted as a graph of nodes, and becomes one op when a value is wanted. A function that is not
known here gets values, and goes on with those. So nothing is refused, and all that is known is one op.

Axes are numbers, or letters: E of edges, U of what sources lead to, V of what destinations lead to.
"""
import itertools
import sys

import torch

from . import compute
from .functions import ELEMENTWISE, NAMES, TYPES, Unknown, dtype_of

HANDLERS = {}     # of functions that are not elementwise, by name: of a scene and the arguments, a lazy tensor or Unknown
OF_OTHERS = set()   # names of those whose first argument may be a tensor with a value
told = None       # a list: what is computed is written there
_NODES = 100000   # that are known
WIDEST = 4096   # of an axis that is known when compiling: a longer one is no feature


class Node:
    """One value of the graph: what it is (`kind`, `data`), of which (`args`), its axes and type. Equal ones are one object.

    `slots`: leaves that it is differentiable by.
    """
    __slots__ = ("id", "kind", "args", "data", "axes", "dtype", "slots")
    _known = {}
    _numbers = itertools.count()

    @classmethod
    def of(cls, kind, args, data, axes, dtype):
        key = kind, tuple([a.id for a in args]), data, axes, dtype
        node = cls._known.get(key)
        if node is None:
            if len(cls._known) >= _NODES:
                cls._known.clear()   # they are only no longer found
            node = cls._known[key] = cls()
            node.id, node.kind, node.args, node.data, node.axes, node.dtype = next(cls._numbers), kind, tuple(args), data, axes, dtype
            node.slots = frozenset(data) if kind == "leaf" else frozenset() if kind == "op" and data[0] == "stop" or \
                not dtype.is_floating_point else frozenset().union(*[a.slots for a in args])
        return node


class Rerun(Exception):
    """That nothing can go on from here: the layer is run without lazy tensors."""


def const(value, dtype, axes=()):
    return Node.of("const", (), (type(value), value), axes, dtype)


class Scene:
    """An edge index whose edges lazy tensors are of, with the tensors that they are made of."""

    def __init__(self, edges, graph, flow=0, grad=True):
        self.edges, self.graph, self.flow = edges, graph, flow   # flow 1: row 0 has the destinations
        self.grad = grad    # whether gradients are wanted of what is done
        self.sizes = {"E": edges.shape[1], "U": None, "V": None}
        self.leaves, self._slots, self._versions = [], {}, []
        self.origins = {}   # of a leaf that was made here: how
        self.log = None     # a list: slots are written there
        self.open = True    # whether a layer runs on it
        self.device = edges.device
        self.elements = 0   # of an edge, in what was computed
        self._pair = None

    @property
    def pair(self):
        """The edge index itself, lazily."""
        if self._pair is None:
            self._pair = Lazy.make(self, Node.of("pair", (), (), (2, "E"), self.edges.dtype))
            self._pair._value = self.edges
        return self._pair

    # ---- Sizes ----------------------------------------------------------------------------------
    def shape(self, axes):
        return tuple([self.sizes[a] if a.__class__ is str else a for a in axes])

    def settle(self, letter, size):
        """Says how large U or V is."""
        had = self.sizes[letter]
        if had is None:
            self.sizes[letter] = size
        elif had != size:
            raise Unknown("two sizes of one space")

    def close(self):
        """The layer has run: lazy tensors that are left still have values."""
        self.open, self._pair = False, None

    def is_square(self):
        return self.sizes["U"] == self.sizes["V"]

    def row(self, letter):
        """The row of the edge index with the sources (U) or destinations (V)."""
        return self.edges[(letter == "V") ^ self.flow]

    def has_type(self, t):
        return t.dtype in TYPES and t.device == self.device and t.layout is torch.strided and not t.is_neg() and \
            all(n <= WIDEST for n in t.shape[1:])

    def of_edges(self, t):
        """A lazy tensor of one that has a row for each edge."""
        made = Lazy.make(self, self.leaf(t, ("E",) + tuple(t.shape[1:])))
        made._value = t
        return made

    # ---- Leaves ---------------------------------------------------------------------------------
    def leaf(self, t, axes):
        """The node of a tensor that is there."""
        if t.dtype not in TYPES or t.device != self.device or t.layout is not torch.strided or t.is_neg():
            raise Unknown("a tensor of %s on %s" % (t.dtype, t.device))
        slot = self._slots.get(id(t))
        if slot is None:
            slot = self._slots[id(t)] = len(self.leaves)
            self.append(t)
            if self.log is not None:
                self.log.append(slot)
        return Node.of("leaf", (), (slot,), axes, t.dtype)

    def append(self, t):
        """A leaf in the next place, whatever it is."""
        self._slots.setdefault(id(t), len(self.leaves))
        self.leaves.append(t)
        self._versions.append(None if t.is_inference() else t._version)

    def must_be_as_noted(self, slot):
        """What was noted of a leaf is computed later: a write between would be seen too early."""
        t = self.leaves[slot]
        if self._versions[slot] is not None and self._versions[slot] != t._version:
            raise RuntimeError("a tensor of the shape %s was written after messages read it, and before they were computed: clone it"
                               % (tuple(t.shape),))

    def forget(self, start):
        """Leaves from that place on."""
        del self.leaves[start:], self._versions[start:]
        self._slots = {i: k for i, k in self._slots.items() if k < start}


class Lazy(torch.Tensor):
    """A tensor by its node. Any use that is not noted makes it one with a value."""

    @staticmethod
    def make(scene, node):
        self = torch.Tensor._make_wrapper_subclass(Lazy, scene.shape(node.axes), dtype=node.dtype, device=scene.device)
        self._scene, self._node, self._value, self._views = scene, node, None, False
        return self

    @staticmethod
    def of(scene, node):
        """That of a node which may be what the scene has."""
        made = Lazy.make(scene, node)
        if node.kind == "leaf":
            made._value = scene.leaves[node.data[0]].reshape(scene.shape(node.axes))
        elif node.kind == "map":
            letter, axis = node.data
            made._value = scene.row(letter).reshape([-1 if k == axis else 1 for k in range(len(node.axes))]).expand(made.shape)
        return made

    def __repr__(self, **_):
        return repr(value(self))

    def __reduce_ex__(self, protocol):
        return value(self).__reduce_ex__(protocol)

    def __deepcopy__(self, memo):
        return value(self).clone()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name == "__get__" and func.__self__.__name__ == "requires_grad":
            return args[0]._is_wanted()
        if name == "__get__" or name in _ASKS:
            if name != "__get__" or func.__self__.__name__ in _PROPERTIES:
                with torch._C.DisableTorchFunctionSubclass():
                    return func(*args, **kwargs)
            name = func.__self__.__name__
        try:
            return note(NAMES.get(name, name), func, args, kwargs)
        except (Unknown, TypeError, ValueError, IndexError, RuntimeError) as e:   # what is wrong, the function itself will tell
            return run(func, args, kwargs, str(e))

    def _is_wanted(self):
        """requires_grad. PyG's `scatter` asks in order to choose a library; whichever it was, it would get values."""
        if sys._getframe(2).f_code.co_filename.endswith("_scatter.py"):
            return False
        leaves = self._scene.leaves
        return self._scene.grad and torch.is_grad_enabled() and any(leaves[k].requires_grad for k in self._node.slots)

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return run(func, args, kwargs or {})


_ASKS = {"size", "dim", "numel", "nelement", "ndimension", "is_floating_point", "is_complex", "get_device", "__len__", "element_size",
         "is_signed"}
_PROPERTIES = {"shape", "dtype", "device", "ndim", "is_cuda", "is_cpu", "layout", "is_sparse", "is_sparse_csr", "is_quantized",
               "is_leaf", "is_meta", "is_nested", "grad_fn", "names", "is_mkldnn", "is_xpu", "is_mps"}


# ---- Values ---------------------------------------------------------------------------------------
def values(lazies):
    """Their values, of one op where they are of one scene."""
    wanted = [t for t in lazies if t._value is None]
    if len({id(t._scene) for t in wanted}) > 1:
        for t in wanted:
            value(t)
    elif wanted:
        scene = wanted[0]._scene
        roots = {}
        for t in wanted:
            for n in t._node.args if t._node.kind == "cat" else (t._node,):
                roots[n.id] = n
        made = dict(zip(roots, compute.compute(scene, list(roots.values()), told)))
        for t in wanted:
            n = t._node
            t._value = torch.cat([made[a.id] for a in n.args], n.data[0]) if n.kind == "cat" else made[n.id]
    return [t._value for t in lazies]


def value(t):
    """The tensor itself, of a lazy one; anything else as it is."""
    return values([t])[0] if isinstance(t, Lazy) else t


def _within(tree, found):
    if isinstance(tree, Lazy):
        found.append(tree)
    elif isinstance(tree, (tuple, list)):
        for t in tree:
            _within(t, found)
    elif isinstance(tree, dict):
        for t in tree.values():
            _within(t, found)
    return found


def _swapped(tree):
    if isinstance(tree, Lazy):
        return tree._value
    if isinstance(tree, (tuple, list)):
        made = [_swapped(t) for t in tree]
        return type(tree)(*made) if hasattr(tree, "_fields") else type(tree)(made)
    if isinstance(tree, dict):
        return {k: _swapped(t) for k, t in tree.items()}
    return tree


def forced(tree):
    """Tuples, lists and dictionaries with values in place of lazy tensors."""
    found = _within(tree, [])
    if not found:
        return tree
    values(found)
    return _swapped(tree)


def run(func, args, kwargs, why="a function of values"):
    name = getattr(func, "__name__", "")
    if told is not None:
        shapes = ", ".join(str(list(t.shape)) for t in _within((args, kwargs), []))
        told.append("PyTorch: %s of %s (%s)" % (name, shapes, why))
    _tell(name, args, why)
    if name.endswith("_") and not name.endswith("__") or name in ("__setitem__", "__iadd__", "__imul__", "__isub__", "__itruediv__"):
        if args and isinstance(args[0], Lazy):
            if args[0]._views:
                raise Rerun("%s on a view" % name)
            value(args[0])
            if args[0]._scene.pair is args[0] or args[0]._node.kind == "map":
                raise Rerun("the edge index is written")
            args[0]._value = args[0]._value.clone()   # nobody else's, from here on
    found = _within((args, kwargs), [])
    values(found)
    out = func(*_swapped(tuple(args)), **_swapped(kwargs))
    if found and args and isinstance(args[0], Lazy) and out is args[0]._value:
        return args[0]
    if type(out) is torch.Tensor and any(t._views and _shares(out, t._value) for t in found):
        raise Rerun("%s of a view, which may be written" % name)   # the others would not see it
    return _again(found, out)


def _shares(a, b):
    """Whether two tensors lie in the same memory."""
    return a.layout is torch.strided and b.layout is torch.strided and a.numel() > 0 and \
        a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _tell(name, args, why):
    """That a message is computed in pieces, where that costs: by a function that is not known at all, or by a wide product."""
    scene = _scene_of(args)
    base = NAMES.get(name, name).rstrip("_")
    if scene is not None and scene.open and (base not in HANDLERS or base in ("linear", "matmul", "bmm")) and base not in ELEMENTWISE and \
            any(isinstance(a, Lazy) and a._value is None for a in args):
        compute.tell("gnnc: PyTorch computes %s of edges (%s), and what goes into it is written out" % (name, why))


def _again(found, out):
    """What PyTorch made of tensors of edges, to go on with: it is noted again what is done with it."""
    scene = found[0]._scene if found else None
    if scene is None or not scene.open or type(out) is not torch.Tensor or not out.dim() or out.shape[0] != scene.sizes["E"] or \
            out.shape[0] == 1 or not scene.has_type(out):
        return out
    return scene.of_edges(out)


# ---- Notes ----------------------------------------------------------------------------------------
def _scene_of(args):
    for a in args:
        if isinstance(a, Lazy):
            return a._scene
        if isinstance(a, (tuple, list)):
            found = _scene_of(a)
            if found:
                return found
    return None


def note(name, func, args, kwargs):
    """A lazy tensor for a call, or Unknown."""
    inplace = kwargs.get("inplace", False) or (name.endswith("_") and not name.endswith("__"))
    base = name.rstrip("_") if inplace else name
    scene = _scene_of(args)
    if scene is None:
        raise Unknown(name)
    if base in ELEMENTWISE:
        made = elementwise(scene, base, func, args, {k: v for k, v in kwargs.items() if k != "inplace"})
    elif base in HANDLERS and (isinstance(args[0], Lazy) or base in OF_OTHERS):
        made = HANDLERS[base](scene, *args, **{k: v for k, v in kwargs.items() if k != "inplace"})
    else:
        raise Unknown(name)
    if torch.is_grad_enabled() != scene.grad and made is not args[0]:
        made = _without_gradient(scene, made)
    return _written(args[0], made) if inplace else made


def _without_gradient(scene, made):
    """What is made under no_grad, where gradients are wanted of the rest."""
    if not scene.grad:
        raise Rerun("gradients are wanted under no_grad")
    if isinstance(made, tuple):
        return tuple(_without_gradient(scene, m) for m in made)
    node = made._node
    if not node.dtype.is_floating_point or node.kind in ("const", "map", "pair"):
        return made
    if node.kind == "cat":
        raise Unknown("a concatenation without gradients")
    stopped = Lazy.make(scene, Node.of("op", (node,), ("stop", ()), node.axes, node.dtype))
    stopped._views = made._views
    return stopped


def axis_of(rank, dim):
    if not isinstance(dim, int) or not -rank <= dim < rank:
        raise Unknown("an axis")
    return dim % rank


def _written(target, made):
    """In place: the lazy tensor becomes another."""
    if not isinstance(target, Lazy) or not isinstance(made, Lazy) or made.shape != target.shape or made.dtype != target.dtype:
        raise Unknown("in place")
    if target._views or target._value is not None:
        raise Rerun("in place on a view") if target._views else Unknown("in place")
    target._node = made._node
    return target


def node_of(t, concatenated=False):
    """The node of a lazy tensor; with a value it is a leaf."""
    if is_cat(t) and not concatenated:
        raise Unknown("what was concatenated")
    if t._value is None or t._node.kind in ("map", "pair"):
        return t._node
    return t._scene.leaf(t._value, t._node.axes)


def operand(scene, a, axes):
    """A node for an operand beside one with these axes."""
    if isinstance(a, Lazy):
        if a._scene is not scene:
            raise Unknown("edges of two graphs")
        node = node_of(a)
        if node.kind == "pair":
            raise Unknown("an edge index")
        return node
    if isinstance(a, torch.Tensor):
        return scene.leaf(a, labels(scene, a.shape, axes))
    if isinstance(a, (bool, int, float)):
        return const(a, torch.bool if isinstance(a, bool) else torch.int64 if isinstance(a, int) else torch.get_default_dtype())
    raise Unknown("an operand that is a %s" % type(a).__name__)


def labels(scene, shape, axes):
    """The axes of a tensor of this shape beside others, aligned at the end."""
    made = []
    for k, n in enumerate(reversed(shape)):
        a = axes[len(axes) - 1 - k] if k < len(axes) else n
        letter = a.__class__ is str and n != 1 and scene.sizes[a] == n
        if not letter and n > WIDEST:
            raise Unknown("an axis of %d that is none of edges or nodes" % n)
        made.append(a if letter else n)
    return tuple(made[::-1])


def broadcast(scene, nodes):
    rank = max(len(n.axes) for n in nodes)
    made = []
    for k in range(rank):
        axis = 1
        for n in nodes:
            a = n.axes[len(n.axes) - rank + k] if len(n.axes) - rank + k >= 0 else 1
            if a == 1 or a == axis:
                continue
            if axis != 1:
                if a.__class__ is str and axis.__class__ is str and scene.sizes[a] == scene.sizes[axis] and "E" not in (a, axis):
                    continue   # sources and destinations of one set of nodes
                raise Unknown("axes that differ")
            axis = a
        made.append(axis)
    return tuple(made)


def is_cat(t):
    """Whether it stands for tensors side by side that have no value yet."""
    return isinstance(t, Lazy) and t._value is None and t._node.kind == "cat"


def _of_parts(scene, name, func, args, kwargs):
    """An elementwise function of what was concatenated: of each part."""
    first = next(a for a in args if is_cat(a))
    back = first._node.data[0] - first.dim()
    sizes = [n.axes[back] for n in first._node.args]
    parts = []
    for a in args:
        if is_cat(a):
            if a._node.data[0] - a.dim() != back or [n.axes[back] for n in a._node.args] != sizes:
                raise Unknown("concatenations that differ")
            parts.append([Lazy.make(scene, n) for n in a._node.args])
        elif isinstance(a, torch.Tensor) and a.dim() >= -back and a.shape[back] != 1:
            a = a if isinstance(a, Lazy) else Lazy.make(scene, operand(scene, a, first._node.axes))
            parts.append(a.split(sizes, back))
        else:
            parts.append([a] * len(sizes))
    return torch.cat([elementwise(scene, name, func, p, kwargs) for p in zip(*parts)], back)


def elementwise(scene, name, func, args, kwargs):
    if any(map(is_cat, args)):
        return _of_parts(scene, name, func, args, kwargs)
    row = ELEMENTWISE[name]
    operands, data = row.read(*args, **kwargs)   # what is a tensor or may be one; what is said besides
    axes = max((t._node.axes for t in operands if isinstance(t, Lazy)), key=len)
    nodes = [operand(scene, a, axes) for a in operands]
    data = (name, data)
    autocast = torch.is_autocast_enabled(scene.device.type)
    key = "op", tuple([n.id for n in nodes]), data, autocast and torch.get_autocast_dtype(scene.device.type), scene.device
    made = _noted.get((key, scene.is_square()))
    if made is None:
        dtype = dtype_of(row.run, nodes, data[1], scene.device if autocast else "meta")
        if len(_noted) >= _NODES:
            _noted.clear()
        if dtype not in TYPES:
            raise Unknown(str(dtype))
        made = _noted[key, scene.is_square()] = Node.of("op", nodes, data, broadcast(scene, nodes), dtype)
    return Lazy.make(scene, made)


_noted = {}
