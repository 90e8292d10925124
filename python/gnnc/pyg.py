"""PyG's layers, computed by ops that are made of their own formulas.

    from gnnc.pyg import GATConv          # any layer of torch_geometric.nn, with its constructor and state_dict
    model = gnnc.pyg.accelerate(model)    # or all layers of a model, also one's own subclasses of MessagePassing

A layer runs as PyG's does, on tensors of edges that are not computed yet. What message, edge_update and aggregate do with them becomes
one op. Where a function is not known here, PyTorch goes on with values; `explain` tells what computes what.
"""
import copy
import functools
import threading

import torch
import torch_geometric.nn as _nn
from torch_geometric import EdgeIndex
from torch_geometric.inspector import Inspector
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import is_sparse, to_edge_index

from . import _edge_indexes, _made_once, lazy
from ._compiler import meant
from .lazy import SlowPath, replay, tell, tensor   # noqa: F401


# ---- Layers -----------------------------------------------------------------------------------------
class _Pass(list):
    """The scenes of a forward pass."""

    def __init__(self):
        super().__init__()
        self.grad = torch.is_grad_enabled()
        self.reason = None   # why PyG's own code runs


class _Scenes(threading.local):
    def __init__(self):
        self.stack = []


_scenes = _Scenes()


def _why_not(self, edges):
    """Why PyG's own code runs; None: no reason."""
    if type(edges) is not torch.Tensor and not isinstance(edges, torch.nn.Parameter):
        return "the edge index is a %s" % type(edges).__name__
    if edges.layout is not torch.strided or edges.dim() != 2 or edges.shape[0] != 2 or edges.dtype not in (torch.int64, torch.int32):
        return "the edge index has the layout %s, the shape %s and the type %s" % (edges.layout, tuple(edges.shape), edges.dtype)
    if edges.device.type not in ("cpu", "cuda"):
        return "the edge index lies on %s" % edges.device
    if self.explain:
        return "it explains"
    if _scenes.stack and _scenes.stack[-1].reason is not None:
        return _scenes.stack[-1].reason
    if torch._C._functorch.maybe_current_level() is not None or torch._C._get_tracing_state() is not None or \
            torch.autograd.forward_ad._current_level >= 0:
        return "PyTorch transforms or traces it"
    return None


def _changes(self, edges):
    """That edges are others at each pass, so that it does not pay to sort them; None: they are not."""
    sights = self.__dict__.get("_gnnc_sights")
    if sights is None:
        sights = self.__dict__["_gnnc_sights"] = _edge_indexes.Sights()
    if sights.pays(edges, 1 if self.flow == "target_to_source" else 0, _scenes.stack[-1] if _scenes.stack else None):
        return None
    return "its edges are others at each pass, and to sort them takes longer than to use them once"


def _rows(self, edges, kwargs):
    """The edge index of a sparse matrix, and arguments with its values as PyG gives them to messages that ask for such.

    What a layer does with a whole matrix (`message_and_aggregate`) is something else, and PyG's.
    """
    if isinstance(edges, EdgeIndex) and not (self.fuse and self.SUPPORTS_FUSED_EDGE_INDEX):
        return edges.as_tensor(), kwargs
    if not is_sparse(edges) or self.fuse or self.flow == "target_to_source":
        return edges, kwargs
    if isinstance(edges, torch.Tensor):
        (row, col), given = to_edge_index(edges)
        attributes = None if given.dim() == 1 else given
    else:
        row, col, given = edges.coo()
        attributes = given
    said = dict(kwargs, size=(edges.size(1), edges.size(0)))
    for name, v in (("edge_weight", given), ("edge_attr", attributes), ("edge_type", given)):
        if name in said and said[name] is None:
            said[name] = v
    return torch.stack([col, row]), said


def _scene(self, edges):
    """The scene of an edge index: that of this forward pass, or a new one."""
    flow = 1 if self.flow == "target_to_source" else 0
    known = _scenes.stack[-1] if _scenes.stack else None
    if known is not None:
        for s in known:
            if s.edges is edges and s.flow == flow:
                return s
    grad = known.grad if known is not None else torch.is_grad_enabled()
    made = lazy.Scene(edges, lambda: _edge_indexes.of(edges, flow), flow, grad)
    if known is not None:
        known.append(made)
    return made


def _lazily(self, what, cls, edges, args, kwargs):
    """What a method of the layer gives on lazy tensors of edges; where that cannot be, on the edge index as it is."""
    if torch.compiler.is_compiling():
        return _method(self, cls, what)(self, edges, *args, **kwargs)
    rows, said = _rows(self, edges, kwargs)
    reason = _why_not(self, rows) or _changes(self, rows)
    if reason is None:
        try:
            return _noted(self, what, cls, _scene(self, rows), args, said)
        except lazy.Rerun as e:
            reason = str(e)
    tell("gnnc.pyg: %s runs PyG's own code: %s" % (type(self).__name__, reason))
    return _method(self, cls, what)(self, edges, *lazy.forced(args), **lazy.forced(kwargs))


def _noted(self, what, cls, scene, args, kwargs):
    at = None
    if args or not self._gnnc_replays:
        replay.must_be_unwatched(self)
    else:
        at = replay.key(self, what, scene, kwargs)
    if at is not None:
        out = replay.replay(self, at, scene, kwargs, what == "propagate")
        if out is not None:
            return out
    run = functools.partial(_method(self, cls, what), self)
    if at is None:
        return run(scene.pair, *args, **_with_edges(scene, kwargs))
    with replay.Recorder(self, at, scene, kwargs) as recorder:
        recorder.out = run(scene.pair, *args, **_with_edges(scene, kwargs))
    return recorder.out


def _with_edges(scene, kwargs):
    """Arguments, where those with a row for each edge are lazy tensors."""
    count = scene.sizes["E"]
    return {k: scene.of_edges(v) if type(v) is torch.Tensor and v.dim() and v.shape[0] == count != 1 and scene.has_type(v) else v
            for k, v in kwargs.items()}


def _is_of_pyg(cls):
    """Whether the code of a layer is PyG's, so that calls are known to depend on nothing else."""
    return all(c.__module__.split(".")[0] in ("torch_geometric", "torch", "builtins") for c in cls.__mro__)


def _method(layer, cls, name):
    """propagate or edge_updater of PyG's class: that which PyG writes for the class, unless it decomposes the layer."""
    if "_jinja_" + name not in cls.__dict__:
        _plain(layer, cls)
    method = getattr(cls, name)
    if layer._decomposed_layers != 1:
        for c in cls.__mro__:
            if c.__dict__.get("_jinja_" + name) is method:
                method = c.__dict__["_orig_" + name]
    return method


def _members(cls):
    def propagate(self, edge_index, *args, **kwargs):
        return lazy.forced(_lazily(self, "propagate", cls, edge_index, args, kwargs))

    def edge_updater(self, edge_index, *args, **kwargs):
        out = _lazily(self, "edge_updater", cls, edge_index, args, kwargs)
        return out if _scenes.stack else lazy.forced(out)

    bound = _made_once.rebound(cls) if _is_of_pyg(cls) else {}
    run = bound.pop("forward", cls.forward)

    @functools.wraps(cls.forward)
    def forward(self, *args, **kwargs):
        _scenes.stack.append(_Pass())
        if tensor.told is not None:
            tensor.told.append("-- %s" % type(self).__name__)
        try:
            try:
                return lazy.forced(run(self, *args, **kwargs))
            except lazy.Rerun as e:   # of what the layer does beside propagate
                _scenes.stack[-1].reason = str(e)
                return run(self, *args, **kwargs)
        finally:
            scenes = _scenes.stack.pop()
            for s in scenes:
                s.close()
            if scenes and "_gnnc_sights" in self.__dict__:
                self._gnnc_sights.elements = max([s.elements for s in scenes])

    def __setattr__(self, name, value):
        replay.changed(self, name, value)
        cls.__setattr__(self, name, value)

    def __delattr__(self, name):
        replay.changed(self, name)
        cls.__delattr__(self, name)

    def __reduce_ex__(self, protocol):
        made = cls.__reduce_ex__(self, protocol)
        state = {k: v for k, v in made[2].items() if not k.startswith("_gnnc_")}
        return (_blank, (cls,), state, *made[3:])

    def __prepare_scriptable__(self):
        return _plain(self, cls)

    return {**bound, "propagate": propagate, "edge_updater": edge_updater, "forward": forward, "__reduce_ex__": __reduce_ex__,
            "__setattr__": __setattr__, "__delattr__": __delattr__, "__prepare_scriptable__": __prepare_scriptable__,
            "_gnnc_replays": _is_of_pyg(cls), "_gnnc_code": replay.code_of(cls),
            "__module__": __name__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__}


def _plain(layer, cls):
    """The same layer of PyG's own class, which then has the methods that PyG writes for it: for TorchScript, and for these."""
    plain = copy.copy(layer)
    plain.__class__ = cls
    plain.inspector = Inspector(cls)
    for method, exclude in ((plain.message, ()), (plain.aggregate, (0, "aggr")), (plain.message_and_aggregate, (0,)),
                            (plain.update, (0,)), (plain.edge_update, ())):
        plain.inspector.inspect_signature(method, exclude=list(exclude))
    plain._set_jittable_templates()
    return plain


__all__ = ["accelerate", "accelerated", "explain", "SlowPath"]   # and each layer of torch_geometric.nn by its name
_classes = {}


def accelerated(cls):
    """The subclass of a layer's class whose messages are computed by gnnc."""
    if not (isinstance(cls, type) and issubclass(cls, MessagePassing)):
        raise TypeError("%r is no subclass of torch_geometric.nn.MessagePassing" % (cls,))
    if cls in _classes.values():
        return cls
    if cls not in _classes:
        _classes[cls] = type(cls)(cls.__name__, (cls,), _members(cls))
    return _classes[cls]


def _blank(cls):
    made = accelerated(cls)
    return made.__new__(made)


def accelerate(module):
    """Makes all layers of a model that are PyG's, or subclasses of MessagePassing, run by gnnc, in place. Returns the model.

    Parameters, buffers, state_dict and what was printed of it stay as they are.
    """
    if not isinstance(module, torch.nn.Module):
        raise TypeError("a torch.nn.Module is wanted, and this is %r" % (module,))
    layers = [m for m in module.modules() if isinstance(m, MessagePassing)]
    if not layers:
        tell("gnnc.pyg: %s has no layer of PyG's, and stays as it is" % type(module).__name__)
    for m in layers:
        m.__class__ = accelerated(type(m))
        for name in ("propagate", "edge_updater"):   # of an instance, which PyG leaves where it explained
            m.__dict__.pop(name, None)
    return module


def explain(module, *args, **kwargs):
    """Runs a module once, and tells what computes what its layers do with edges: texts of ops, and functions of PyTorch."""
    layers = [m for m in module.modules() if isinstance(m, MessagePassing) and "_gnnc_replays" in type(m).__dict__]
    for m in layers:
        m.__dict__["_gnnc_replays"] = False
    if not layers:
        return "no layer of this module is accelerated: gnnc.pyg.accelerate(module)"
    tensor.told = []
    try:
        module(*args, **kwargs)
        return "\n".join(tensor.told)
    finally:
        tensor.told = None
        for m in layers:
            m.__dict__.pop("_gnnc_replays")


def __getattr__(name):
    cls = getattr(_nn, name, None) if not name.startswith("_") else None
    if isinstance(cls, type) and issubclass(cls, MessagePassing):
        return accelerated(cls)
    raise AttributeError("gnnc.pyg has no %s: it has the layers of torch_geometric.nn%s" % (name, meant(name, __dir__())))


def __dir__():
    return [*globals(), *(n for n in dir(_nn) if isinstance(getattr(_nn, n), type) and issubclass(getattr(_nn, n), MessagePassing))]
