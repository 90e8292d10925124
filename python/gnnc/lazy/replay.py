"""Calls of a layer that were seen before: what they noted is taken again, without running the layer's Python code.

A recording holds for tensors of the same shapes and types, the same plain attributes of the layer and of its modules, and the same modes
of PyTorch. Code may depend on other things, so it is done for layers alone whose code is PyG's.
"""
import threading
import weakref

import torch
from torch.nn.modules.module import _has_any_global_hook
from torch.overrides import TorchFunctionMode

from . import compute, tensor
from .tensor import Lazy, value

_KEPT = 32   # recordings of a layer
_PLAIN = (int, float, str, bool, type(None), torch.dtype)


# ---- What a call depends on -------------------------------------------------------------------------
def _of_value(scene, v, seen):
    if type(v) in (torch.Tensor, torch.nn.Parameter):
        if v.is_neg() or v.layout is not torch.strided:
            raise _Not()
        slot = scene._slots.get(id(v))
        first = seen.setdefault(id(v), len(seen))
        return v.shape, v.dtype, v.requires_grad, v.is_contiguous(), v.device, slot, first
    if isinstance(v, Lazy):
        if v._scene is not scene or v._value is not None:
            raise _Not()
        return "lazy", v._node.id
    if isinstance(v, (tuple, list)):
        return tuple([_of_value(scene, a, seen) for a in v])
    if type(v) in _PLAIN:
        return type(v), v
    raise _Not()


class _Not(Exception):
    """That a call cannot be recorded."""


_names = weakref.WeakKeyDictionary()   # of a module: names of its attributes, and of those that calls may depend on


def _content(v):
    """What an attribute says, to compare: of a list or a dictionary what it holds."""
    if type(v) in _PLAIN:
        return v
    if isinstance(v, (list, tuple)):
        return tuple([_content(a) for a in v])
    if isinstance(v, dict):
        return tuple([(_content(k), _content(a)) for k, a in v.items()])
    return id(v)


def _watched(module, own, is_layer):
    """Names of attributes that a call may depend on. Those of a layer are counted as they are set, so what can change in place is left."""
    names = _names.get(module)
    if names is None or names[0] != own.keys():
        wanted = (list, dict) if is_layer else object
        names = _names[module] = set(own), [k for k in own if k[0] != "_" and isinstance(own[k], wanted)]
    return names[1]


def _attributes(module, is_layer=True):
    """Plain attributes of a layer and its modules."""
    own = module.__dict__
    made = [_content(own[k]) for k in _watched(module, own, is_layer)]
    for name, m in module._modules.items():
        if m is not None:
            if type(m).__module__.split(".")[0] not in ("torch", "torch_geometric"):
                raise _Not()   # its code may depend on anything
            if m._forward_hooks or m._forward_pre_hooks or "forward" in m.__dict__:
                raise _Not()
            if m._backward_hooks or m._backward_pre_hooks:
                raise tensor.Rerun(_WATCHES)
            made += (name, id(m), type(m), type(m).forward, *[id(p) for p in m._parameters.values()])
            made += _attributes(m, False)
    return made


_WATCHES = "a module in it has hooks, which want tensors"


def must_be_unwatched(layer):
    """A hook of a gradient, or of all modules, gets tensors as PyG's own code has them."""
    if _has_any_global_hook():
        raise tensor.Rerun(_WATCHES)
    for m in layer.modules():
        if m is not layer and (m._backward_hooks or m._backward_pre_hooks):
            raise tensor.Rerun(_WATCHES)


def _is_hooked(layer):
    d = layer.__dict__
    for n in _HOOKS:
        if d[n]:
            return True
    return False


_HOOKS = ["_%s_forward%s_hooks" % (n, p) for n in ("propagate", "message", "aggregate", "edge_update") for p in ("", "_pre")]


def code_of(cls):
    """The functions of a layer that run on edges: where another is set, it is not known on what it depends."""
    return cls.message, cls.update, cls.aggregate, cls.edge_update


def key(layer, what, scene, kwargs):
    """What a call depends on, or None: it is not recorded."""
    if _has_any_global_hook():
        raise tensor.Rerun(_WATCHES)
    if _is_hooked(layer) or layer._decomposed_layers != 1 or code_of(type(layer)) != layer._gnnc_code:
        return None
    try:
        d = scene.device.type
        seen = {}
        return (what, layer.training, layer.__dict__.get("_gnnc_changes", 0), len(scene.leaves), tuple(scene.sizes.values()), scene.flow, scene.grad,
                scene.edges.dtype, d, torch.is_grad_enabled(), torch.is_autocast_enabled(d), torch.get_autocast_dtype(d),
                torch.get_default_dtype(), tuple(kwargs),
                tuple([_of_value(scene, v, seen) for v in kwargs.values()]), *_attributes(layer))
    except _Not:
        return None


# ---- Recording --------------------------------------------------------------------------------------
# What leads from values of tensors to what Python decides by, or to shapes that are known from values alone.
_DECIDES = {"item", "tolist", "__bool__", "__int__", "__float__", "__index__", "__contains__", "numpy", "__array__", "equal", "allclose",
            "is_nonzero", "nonzero", "argwhere", "masked_select", "unique", "unique_consecutive", "bincount", "__repr__", "__format__",
            "__reduce_ex__", "__deepcopy__", "histc", "data_ptr", "storage", "untyped_storage", "register_hook", "backward"}


class Recording:
    """program: leaves of a scene and functions of PyTorch by their numbers, in order; out: what the call gives; sets: attributes that it
    sets."""

    def __init__(self, program, out, sizes, sets):
        self.program, self.out, self.sizes, self.sets = program, out, sizes, sets
        self.node = None   # that of the result, where it is one of leaves alone
        is_one = isinstance(out, _Of) and out.kind == "node" and out.data[0].kind not in ("leaf", "map", "cat", "pair")
        if is_one and not sets and program and all(isinstance(e, _Of) and e.kind in ("argument", "own") for _, e in program):
            self.node = out.data[0]


class _Step:
    """A function of PyTorch on what is there by then."""

    def __init__(self, func, args, kwargs):
        self.func, self.args, self.kwargs, self.grad = func, args, kwargs, torch.is_grad_enabled()


def _sources(layer, kwargs):
    """Where tensors of a call come from, by id."""
    found = {}
    for m in layer.modules():
        for kind in ("_parameters", "_buffers"):
            for name, t in getattr(m, kind).items():
                if t is not None:
                    found.setdefault(id(t), ("own", m, kind, name, t.shape, t.dtype))
    for name, v in kwargs.items():
        if isinstance(v, (tuple, list)):
            for k, t in enumerate(v):
                found[id(t)] = "argument", name, k
        else:
            found[id(v)] = "argument", name, None
    return found


def _tensors(out):
    """The tensors with values that a function gave."""
    if isinstance(out, Lazy):
        return [out._value] if out._value is not None and out._node.kind == "leaf" else []
    if isinstance(out, torch.Tensor):
        return [out]
    return [t for o in out for t in _tensors(o)] if isinstance(out, (tuple, list)) else []


class _Recorders(threading.local):
    def __init__(self):
        self.stack = []


_recorders = _Recorders()


def changed(layer, name, value=None):
    """Notes that an attribute of a layer is set or deleted."""
    own = layer.__dict__
    if name[0] != "_" and name != "training":
        own["_gnnc_changes"] = own.get("_gnnc_changes", 0) + 1
    for r in _recorders.stack:
        if r.layer is layer:
            r.sets.append((name, value))


class Recorder(TorchFunctionMode):
    """Around a call whose result is `out`: it is kept where all that it depends on was seen."""

    def __init__(self, layer, at, scene, kwargs):
        super().__init__()
        self.layer, self.at, self.scene, self.kwargs, self.out = layer, at, scene, kwargs, None
        self.found, self.alive, self.program, self.whole = _sources(layer, kwargs), [], [], True

    def __enter__(self):
        self.sets = []
        _recorders.stack.append(self)
        self.attributes = _attributes(self.layer)
        self.scene.log = self.program
        return super().__enter__()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        at = len(self.program)
        self.program.append(None)
        out = func(*args, **kwargs)
        if name in _DECIDES:
            self.whole = False
        made = _tensors(out)
        if self.whole and (made or name == "__setitem__"):
            try:
                if name.endswith("_") and not name.endswith("__") and args and isinstance(args[0], Lazy):
                    raise _Not()   # what is written is not what it was
                self.program[at] = _Step(func, self._spelled(args, name), self._spelled(kwargs, name))
            except _Not:
                self.whole = False
        for k, t in enumerate(made):
            self.found[id(t)] = "step", at, k
            self.alive.append(t)
        return out

    def _spelled(self, v, name):
        """An argument, with where each tensor comes from."""
        if isinstance(v, Lazy):
            if v._scene is not self.scene:
                raise _Not()
            return _Of("edges") if v._node.kind == "pair" else _Of("node", v._node)
        if isinstance(v, torch.Tensor):
            if id(v) not in self.found or (v.dtype in (torch.bool, torch.uint8) and name in ("__getitem__", "__setitem__", "index_put_")):
                raise _Not()
            return _Of(*self.found[id(v)])
        if isinstance(v, tuple) and not hasattr(v, "_fields"):
            return type(v)([self._spelled(a, name) for a in v]) if type(v) is tuple else v
        if isinstance(v, list):
            return [self._spelled(a, name) for a in v]
        if isinstance(v, dict):
            return {k: self._spelled(a, name) for k, a in v.items()}
        return v

    def __exit__(self, kind, *rest):
        super().__exit__(kind, *rest)
        _recorders.stack.remove(self)
        self.scene.log = None
        if kind is None and self.whole:
            try:
                self._keep(self.sets)
            except _Not:
                pass

    def _given(self, v):
        if type(v) in _PLAIN:
            return v
        if isinstance(v, (Lazy, torch.Tensor)) and not (isinstance(v, Lazy) and v._node.kind in ("map", "pair")):
            if isinstance(v, Lazy) and v._value is not None and v._node.kind != "leaf":
                raise _Not()
            return self._spelled(v._value if isinstance(v, Lazy) and v._value is not None else v, "")
        raise _Not()

    def _keep(self, log):
        scene, layer = self.scene, self.layer
        sets = [(name, self._given(v)) for name, v in log]
        if any(name[0] != "_" for name, _ in sets) or _attributes(layer) != self.attributes or type(self.out) in _PLAIN:
            raise _Not()
        program = []
        for at, entry in enumerate(self.program):
            if isinstance(entry, int):
                entry = scene.origins.get(entry) or self.found.get(id(scene.leaves[entry]))
                if entry is None:
                    raise _Not()
                entry = _Of(*entry)
            if entry is not None:
                program.append((at, entry))
        kept = layer.__dict__.setdefault("_gnnc_calls", {})
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        kept[self.at] = Recording(program, self._given(self.out), dict(scene.sizes), sets)


# ---- Replay -----------------------------------------------------------------------------------------
class _Of:
    """Where a tensor comes from."""
    __slots__ = ("kind", "data")

    def __init__(self, kind, *data):
        self.kind, self.data = kind, data


class _Run:
    """A recording, once more."""

    def __init__(self, scene, kwargs):
        self.scene, self.kwargs, self.made = scene, kwargs, {}

    def tensor(self, of):
        return getattr(self, "_" + of.kind)(*of.data)

    def _argument(self, name, k):
        v = self.kwargs[name]
        return v if k is None else v[k]

    def _own(self, module, kind, name, shape, dtype):
        t = getattr(module, kind).get(name)
        if t is None or t.shape != shape or t.dtype != dtype or t.device != self.scene.device:
            raise _Not()
        return t

    def _slot(self, slot, axes):
        return self.scene.leaves[slot].reshape(self.scene.shape(axes))

    def _made(self, run):
        return run(self.scene)

    def _step(self, at, k):
        return self.made[at][k]

    def _edges(self):
        return self.scene.edges

    def _node(self, node):
        return value(Lazy.of(self.scene, node))

    def read(self, v):
        if isinstance(v, _Of):
            return self.tensor(v)
        if type(v) is tuple or type(v) is list:
            return type(v)([self.read(a) for a in v])
        if type(v) is dict:
            return {k: self.read(a) for k, a in v.items()}
        return v

    def program(self, entries):
        for at, entry in entries:
            if isinstance(entry, _Of):
                self.scene.append(self.tensor(entry))
            else:
                with torch.set_grad_enabled(entry.grad):
                    self.made[at] = _tensors(entry.func(*self.read(entry.args), **self.read(entry.kwargs)))

    def given(self, v):
        if not isinstance(v, _Of):
            return v
        return Lazy.of(self.scene, v.data[0]) if v.kind == "node" else self.tensor(v)


def _straight(made, scene, run):
    """What a recording gives that is one value of leaves: no lazy tensor is made of it."""
    leaves = []
    for _, entry in made.program:
        leaves.append(run.tensor(entry))
    scene.sizes.update(made.sizes)
    scene.leaves, scene._versions = leaves, [None] * len(leaves)   # they are read at once
    try:
        return compute.compute(scene, [made.node], tensor.told)[0]
    finally:
        scene.leaves, scene._versions = [], []


def replay(layer, at, scene, kwargs, is_last=False):
    """The result of a call that was recorded, or None. is_last: its value is wanted at once."""
    calls = layer.__dict__.get("_gnnc_calls")
    made = calls.get(at) if calls else None
    if made is None:
        return None
    if is_last and made.node is not None and not scene.leaves:
        try:
            return _straight(made, scene, _Run(scene, kwargs))
        except _Not:
            del calls[at]
            return None
    start, run = len(scene.leaves), _Run(scene, kwargs)
    try:
        scene.sizes.update(made.sizes)
        run.program(made.program)
    except _Not:
        scene.forget(start)
        del calls[at]
        return None
    for name, v in made.sets:
        torch.nn.Module.__setattr__(layer, name, run.given(v))
    return run.given(made.out)
