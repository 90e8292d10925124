"""Ops of nodes: compiled once, launched on what a scene has."""
import copy
import warnings

import torch

from .. import _torch
from .._compiler import CompileError
from .by_torch import by_torch
from .text import Writer


class SlowPath(UserWarning):
    """That something is computed by PyTorch's functions one after another."""


_told = set()


def tell(what):
    """A slow path, once."""
    if what not in _told:
        _told.add(what)
        warnings.warn(what, SlowPath, stacklevel=6)


class _Made:
    """A compiled op: `reads` are slots and axes of its tensors, in order; op None: it cannot be one, for a reason."""

    def __init__(self, roots, square, wanted):
        writer = Writer(roots, square)
        self.op, self.text = None, None
        if not any(r.args for r in roots):
            return
        self.text = writer.op(wanted)
        if not writer.maps and not writer.leaves and not writer.lookups:   # of constants alone
            return
        self.reads = [(node.data[0], node.axes) for _, node in (*writer.lookups.values(), *writer.leaves.values())]
        self.maps = [m for m in "UV" if m in writer.maps]
        from ..module import compile
        try:
            module = compile(self.text, **writer.sizes)
        except CompileError as e:
            tell("an op cannot be compiled, and is computed by PyTorch's functions, one after another: %s\n%s" % (e, self.text))
            return
        self.op = module["lazy"]
        self.takes = [p.name for p in self.op.params if p.role in ("map", "tensor") and not p.prefix]


_made = {}
_OPS = 512   # that are kept
_SMALL = 1 << 16   # elements, such as those of a weight: what is read for each edge is read faster where it is packed
_RESULTS = 12   # of an op: PyTorch knows no function of more than 64 arguments, and a gradient takes two of each result


def compute(scene, roots, told=None):
    """The values of nodes, in order. told: a list that takes what computes them."""
    if not all(scene.sizes["E"] if a == "E" else scene.sizes[a] if a.__class__ is str else a for r in roots for a in r.axes):
        return by_torch(scene, roots)   # of no elements
    if len(roots) > _RESULTS:
        return [v for k in range(0, len(roots), _RESULTS) for v in compute(scene, roots[k:k + _RESULTS], told)]
    wanted = ()
    if scene.grad and torch.is_grad_enabled():
        slots = frozenset().union(*[r.slots for r in roots])
        wanted = tuple([k for k in sorted(slots) if scene.leaves[k].requires_grad])
    key = tuple([r.id for r in roots]), scene.is_square(), wanted
    made = _made.get(key)
    if made is None:
        made = _made[key] = _Made(roots, scene.is_square(), wanted)
        if len(_made) > _OPS:
            tell("more than %d ops were made: one for each value of a number in a message; a tensor may change without another op" % _OPS)
            _made.pop(next(iter(_made)))
    if told is not None and made.text:
        told.append(made.text if made.op is not None else "PyTorch, as this op is not compiled:\n" + made.text)
    if made.op is None:
        return by_torch(scene, roots)
    return _launched(scene, roots, made, wanted)


def _launched(scene, roots, made, wanted):
    graph = scene.graph()
    for m in made.maps:
        if scene.sizes[m] is None:
            scene.sizes[m] = graph.size(m)   # nothing tells it: that which its points need
        graph.must_lie_in(m, scene.sizes[m])
    arguments = [graph.src if m == "U" else graph.dst for m in made.maps]
    for slot, axes in made.reads:
        t = scene.leaves[slot]
        if t.requires_grad and slot not in wanted:
            t = t.detach()
        if "E" in axes:
            t = graph.permuted(t, axes.index("E"))
        if 1 in axes:
            t = t.reshape([n for n, a in zip(t.shape, axes) if a != 1])
        if not t.is_contiguous() and t.numel() <= _SMALL:
            t = t.contiguous()
        arguments.append(t)
    plain = made.op._torch_plain
    sizes = [scene.sizes["V" if s == "N" else s] for s in plain.free]
    if not _torch._is_eager(arguments):
        out = _torch.call(made.op, {**dict(zip(made.takes, arguments)), **dict(zip(plain.free, sizes))})
    elif wanted:
        twin = made.op._torch_twin if made.op._torch_keeps else plain
        out = _Op.apply(twin, sizes, _Sorted(scene, made, graph), tuple(roots), *arguments)
    else:
        out = _torch._or(_torch._launched(plain, arguments, sizes), plain, arguments, sizes)
    out = out if isinstance(out, tuple) else (out,)
    results = []
    for r, y in zip(roots, out):
        if y.requires_grad and not any(scene.leaves[k].requires_grad for k in r.slots):
            y = y.detach()
        if 1 in r.axes:
            y = y.reshape(scene.shape(r.axes))
        results.append(graph.unpermuted(y, r.axes.index("E")) if "E" in r.axes else y)
    return results


class _Sorted:
    """A scene whose edges stand in the order of an op's maps, and whose leaves are its arguments."""

    def __init__(self, scene, made, graph):
        self.sizes, self.device = dict(scene.sizes), scene.device
        self.rows, self.made, self.leaves = {"U": graph.src, "V": graph.dst}, made, {}

    def row(self, letter):
        return self.rows[letter]

    def shape(self, axes):
        return tuple([self.sizes[a] if a.__class__ is str else a for a in axes])

    def of(self, arguments):
        """The same with leaves; it is another, as a graph of gradients may not hold its own tensors."""
        made = copy.copy(self)
        made.leaves = {slot: t for (slot, _), t in zip(self.made.reads, arguments[len(self.made.maps):])}
        return made


class _Op(torch.autograd.Function):
    """An op and its derived gradient. A gradient that is differentiated again is that of PyTorch's functions."""

    @staticmethod
    def forward(ctx, of, sizes, scene, roots, *arguments):
        out = _torch._or(_torch._launched(of, arguments, sizes), of, arguments, sizes)
        ctx.of, ctx.scene, ctx.roots = of, scene, roots
        of._setup(ctx, (*arguments, sizes), out)
        ctx.mark_non_differentiable(*[t for p, t in zip(of.gives, out if isinstance(out, tuple) else (out,))
                                      if p.saved or not t.is_floating_point()])
        return out

    @staticmethod
    def backward(ctx, *grads):
        needs = ctx.needs_input_grad[4:]
        if not torch.is_grad_enabled():
            return (None,) * 4 + ctx.of.adjoints(ctx, grads, needs,
                                                 lambda of, args, sizes: _torch._or(_torch._launched(of, args, sizes), of, args, sizes))
        tell("a second gradient of an op of edges is computed by PyTorch's functions, one after another")
        arguments = list(ctx.saved_tensors[:len(needs)])
        out = by_torch(ctx.scene.of(arguments), ctx.roots)
        pairs = [(y, g.reshape(y.shape)) for y, g in zip(out, grads) if g is not None and y.requires_grad]
        wanted = [a for a, n in zip(arguments, needs) if n]
        made = iter(torch.autograd.grad([y for y, _ in pairs], wanted, [g for _, g in pairs], create_graph=True, allow_unused=True))
        return (None,) * 4 + tuple([next(made) if n else None for n in needs])
