"""Calls of a layer that were seen before: what they noted is taken again, without running the layer's Python code.

A recording holds for tensors of the same shapes and types, the same plain attributes of the layer and of its modules, and the same modes
of PyTorch. Code may depend on other things, so it is done for layers whose code is PyG's, and for others where that is asked for.
"""
import torch

from .tensor import Lazy

_KEPT = 32   # recordings of a layer
_PLAIN = (int, float, str, bool, type(None), torch.dtype)


class Recording:
    """The node of a call, where its leaves come from, in the order in which the scene had them, and what attributes it sets."""

    def __init__(self, node, leaves, sizes, sets):
        self.node, self.leaves, self.sizes, self.sets = node, leaves, sizes, sets


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


def _attributes(module):
    """Plain attributes of the modules of a layer, whose own are counted as they change."""
    made = []
    for name, m in module._modules.items():
        if m is not None:
            made.append((name, id(m), m.training))
            made += [v for k, v in m.__dict__.items() if type(v) in _PLAIN and k[0] != "_"]
            if m._forward_hooks or m._forward_pre_hooks:
                raise _Not()
            if m._modules:
                made += _attributes(m)
    return made


def _is_hooked(layer):
    d = layer.__dict__
    return any(d[n] for n in _HOOKS)


_HOOKS = ["_%s_forward%s_hooks" % (n, p) for n in ("propagate", "message", "aggregate", "edge_update") for p in ("", "_pre")]


def key(layer, what, scene, kwargs):
    """What a call depends on, or None: it is not recorded."""
    if _is_hooked(layer) or layer._decomposed_layers != 1:
        return None
    try:
        d = scene.device.type
        seen = {}
        return (what, layer.training, layer.__dict__.get("_gnnc_changes", 0), len(scene.leaves), tuple(scene.sizes.values()), scene.flow,
                scene.edges.dtype, d, torch.is_grad_enabled(), torch.is_autocast_enabled(d), torch.get_default_dtype(), tuple(kwargs),
                tuple([_of_value(scene, v, seen) for v in kwargs.values()]), *_attributes(layer))
    except _Not:
        return None


# ---- Recordings -------------------------------------------------------------------------------------
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


def _source(scene, slot, found):
    t = scene.leaves[slot]
    if slot in scene.origins:
        return scene.origins[slot]
    if id(t) in found:
        return found[id(t)]
    base = t._base
    if base is not None and id(base) in found and base.is_contiguous() and t.is_contiguous() and base.numel() == t.numel():
        return "view", found[id(base)], t.shape
    raise _Not()


def changed(layer, name, value):
    """Notes that an attribute of a layer is set."""
    own = layer.__dict__
    if name[0] != "_" and name != "training":
        own["_gnnc_changes"] = own.get("_gnnc_changes", 0) + 1
    log = own.get("_gnnc_log")
    if log is not None:
        log.append((name, value))


class Recorder:
    """Around a call whose result is `out`: it is kept where it noted everything."""

    def __init__(self, layer, at, scene, kwargs):
        self.layer, self.at, self.scene, self.kwargs, self.out = layer, at, scene, kwargs, None
        self.start, self.computed = len(scene.leaves), scene.computed

    def __enter__(self):
        self.layer.__dict__["_gnnc_log"] = []
        self.attributes = _attributes(self.layer)
        return self

    def __exit__(self, kind, *_):
        log = self.layer.__dict__.pop("_gnnc_log")
        if kind is not None or self.scene.computed != self.computed:
            return
        try:
            self._keep(log)
        except _Not:
            pass

    def _node(self, v):
        if not isinstance(v, Lazy) or v._value is not None or v._scene is not self.scene or v._node.kind == "cat":
            raise _Not()
        return v._node

    def _keep(self, log):
        scene, layer = self.scene, self.layer
        node = self._node(self.out)
        sets = [(name, v, None) if type(v) in _PLAIN else (name, None, self._node(v)) for name, v in log]
        if any(name[0] != "_" for name, *_ in sets) or _attributes(layer) != self.attributes:
            raise _Not()
        found = _sources(layer, self.kwargs)
        leaves = [_source(scene, k, found) for k in range(self.start, len(scene.leaves))]
        kept = layer.__dict__.setdefault("_gnnc_calls", {})
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)))
        kept[self.at] = Recording(node, leaves, dict(scene.sizes), sets)


def _fetched(scene, source, kwargs):
    kind = source[0]
    if kind == "argument":
        v = kwargs[source[1]]
        return v if source[2] is None else v[source[2]]
    if kind == "own":
        t = getattr(source[1], source[2]).get(source[3])
        if t is None or t.shape != source[4] or t.dtype != source[5] or t.device != scene.device:
            raise _Not()
        return t
    if kind == "view":
        return _fetched(scene, source[1], kwargs).view(source[2])
    if kind == "slot":
        return scene.leaves[source[1]].reshape(scene.shape(source[2]))
    return source[1](scene)   # drawn


def replay(layer, at, scene, kwargs):
    """The lazy tensor of a call that was recorded, or None."""
    calls = layer.__dict__.get("_gnnc_calls")
    made = calls.get(at) if calls else None
    if made is None:
        return None
    start = len(scene.leaves)
    try:
        for source in made.leaves:
            t = _fetched(scene, source, kwargs)
            scene._slots[id(t)] = len(scene.leaves)
            scene.leaves.append(t)
    except _Not:
        del scene.leaves[start:], calls[at]
        scene._slots = {id(t): k for k, t in enumerate(scene.leaves)}
        return None
    scene.sizes.update(made.sizes)
    for name, plain, node in made.sets:
        torch.nn.Module.__setattr__(layer, name, plain if node is None else Lazy.make(scene, node))
    return Lazy.make(scene, made.node)
