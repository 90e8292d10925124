"""Ops of nodes: compiled once, launched on what a scene has."""
import copy
import math
import warnings

import torch

from .. import _torch
from .._compiler import CompileError
from .._fast import _TYPES
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


def _elements(roots):
    """How many elements an edge has in all that is computed of edges: PyTorch would write and read them."""
    seen, left, count = set(), list(roots), 0
    while left:
        node = left.pop()
        if node.id not in seen:
            seen.add(node.id)
            left.extend(node.args)
            if node.args and "E" in node.axes:
                count += math.prod([a for a in node.axes if a.__class__ is int])
    return count


class _Made:
    """A compiled op: `reads` are slots and axes of its tensors, in order; op None: it cannot be one, for a reason."""

    def __init__(self, roots, square, wanted):
        writer = Writer(roots, square)
        self.op, self.text, self.elements = None, None, _elements(roots)
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
        self.names = [p.name for p in self.op.params if p.role in ("map", "tensor") and not p.prefix]
        # of each tensor: its slot, its axis of edges, and which of its axes the op has, where that is not all
        self.takes = [(slot, axes.index("E") if "E" in axes else None, [k for k, a in enumerate(axes) if a != 1] if 1 in axes else None)
                      for slot, axes in self.reads]
        self.looks_up = bool(writer.lookups)


_made = {}
_OPS = 512   # that are kept
_SMALL = 1 << 16   # elements, such as those of a weight: what is read for each edge is read faster where it is packed
_RESULTS = 12   # of an op: PyTorch knows no function of more than 64 arguments, and a gradient takes two of each result


def compute(scene, roots, told=None):
    """The values of nodes, in order. told: a list that takes what computes them."""
    for r in roots:
        for a in r.axes:
            if not (scene.sizes[a] if a.__class__ is str else a):
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
    scene.elements += made.elements
    if told is not None and made.text:
        told.append(made.text if made.op is not None else "PyTorch, as this op is not compiled:\n" + made.text)
    if made.op is None:
        return by_torch(scene, roots)
    return _launched(scene, roots, made, wanted)


def _launched(scene, roots, made, wanted):
    graph, leaves = scene.graph(), scene.leaves
    for m in made.maps:
        if scene.sizes[m] is None:
            scene.sizes[m] = graph.size(m)   # nothing tells it: that which its points need
        graph.must_lie_in(m, scene.sizes[m])
    arguments = [graph.src if m == "U" else graph.dst for m in made.maps]
    for slot, edges, long in made.takes:
        t = leaves[slot]
        scene.must_be_as_noted(slot)
        if t.requires_grad and slot not in wanted:
            t = t.detach()
        if edges is not None:
            t = graph.permuted(t, edges)
        if long is not None:
            t = t.reshape([t.shape[k] for k in long])
        if not t.is_contiguous() and t.numel() <= _SMALL:
            t = t.contiguous()
        arguments.append(t)
    plain = made.op._torch_plain
    sizes = [scene.sizes["V" if s == "N" else s] for s in plain.free]
    if not _torch._is_eager(arguments):
        out = _torch.call(made.op, {**dict(zip(made.names, arguments)), **dict(zip(plain.free, sizes))})
    elif wanted:
        twin = made.op._torch_twin if made.op._torch_keeps else plain
        out = _Op.apply(twin, sizes, _Sorted(scene, made, graph), tuple(roots), *arguments)
    else:
        out = _run(plain, made, graph, sizes, arguments)
    results = []
    for r, y in zip(roots, out if isinstance(out, tuple) else (out,)):
        if wanted and y.requires_grad and not any(leaves[k].requires_grad for k in r.slots):
            y = y.detach()
        if 1 in r.axes:
            y = y.reshape(scene.shape(r.axes))
        results.append(graph.unpermuted(y, r.axes.index("E")) if "E" in r.axes else y)
    return results


def _run(of, made, graph, sizes, arguments):
    """What an op gives for arguments, by the plan of their graph."""
    if made.looks_up:   # its plan is of further maps, too
        plan, tensors = _torch.plan_for(of, arguments, sizes)
    else:
        key = of, *sizes
        plan, tensors = graph.plans.get(key), arguments[len(made.maps):]
        if plan is None:
            plan, tensors = _torch.plan_of_graph(of, arguments, sizes, graph.shared)
            if plan is not None:
                graph.plans[key] = plan
        elif any([t.dim() and t.stride(-1) != 1 for t in tensors]):
            plan = None
    if plan is None:
        return of.call(*arguments, sizes)
    out = plan._quick(tensors)
    return out[0] if len(out) == 1 else tuple(out)


class _Sorted:
    """A scene whose edges stand in the order of an op's maps, and whose leaves are its arguments."""

    def __init__(self, scene, made, graph):
        self.sizes, self.device = dict(scene.sizes), scene.device
        self.rows, self.made, self.graph, self.leaves = {"U": graph.src, "V": graph.dst}, made, graph, {}

    def row(self, letter):
        return self.rows[letter]

    def shape(self, axes):
        return tuple([self.sizes[a] if a.__class__ is str else a for a in axes])

    def of(self, arguments):
        """The same with leaves; it is another, as a graph of gradients may not hold its own tensors."""
        made = copy.copy(self)
        made.leaves = {slot: t for (slot, _), t in zip(self.made.reads, arguments[len(self.made.maps):])}
        return made


class _Backward:
    """Of an op: the gradient, and where each of its arguments comes from."""

    def __init__(self, of):
        g, = of.op.gradients
        self.of = of._gradient_of(g)
        names, results = [p.name for p in of.takes], [p.name for p in of.gives]
        reads = of._read_by_gradients()
        self.kept = [k for k, p in enumerate(of.gives) if p.name in reads]   # results that are saved, behind the arguments
        places = {**{n: k for k, n in enumerate(names)}, **{results[k]: len(names) + i for i, k in enumerate(self.kept)}}
        self.takes = [(True, results.index(p.adjoint_of)) if p.adjoint_of is not None else (False, places[p.name]) for p in self.of.takes]
        self.gives = [names.index(p.adjoint_of) for p in self.of.gives]
        self.types = [_TYPES[p.dtype] for p in of.gives]
        # arguments whose values no gradient reads: they may be written after the op
        unread = {places[p.name] for p in self.of.takes if p.unread and p.adjoint_of is None}
        self.unread = [] if self.kept else sorted(unread)


def _backward_of(of):
    if of.backward is None:
        of.backward = _Backward(of)
    return of.backward


class _Op(torch.autograd.Function):
    """An op and its derived gradient. A gradient that is differentiated again is that of PyTorch's functions."""

    @staticmethod
    def forward(ctx, of, sizes, scene, roots, *arguments):
        out = _run(of, scene.made, scene.graph, sizes, arguments)
        results, b = out if isinstance(out, tuple) else (out,), _backward_of(of)
        ctx.of, ctx.sizes, ctx.scene, ctx.roots = of, sizes, scene, roots
        ctx.shapes = [y.shape for y in results]
        ctx.unread = {k: (arguments[k].shape, arguments[k].dtype) for k in b.unread}
        ctx.save_for_backward(*[None if k in ctx.unread else a for k, a in enumerate(arguments)], *[results[k] for k in b.kept])
        unwanted = [t for p, t in zip(of.gives, results) if p.saved or not t.is_floating_point()]
        if unwanted:
            ctx.mark_non_differentiable(*unwanted)
        return out

    @staticmethod
    def backward(ctx, *grads):
        needs, saved, b = ctx.needs_input_grad[4:], ctx.saved_tensors, _backward_of(ctx.of)
        if torch.is_grad_enabled():
            return (None,) * 4 + _twice(ctx, needs, saved[:len(needs)], grads)
        arguments = []
        for is_adjoint, k in b.takes:
            if not is_adjoint:
                arguments.append(saved[k] if k not in ctx.unread else torch.empty(ctx.unread[k][0], dtype=ctx.unread[k][1], device=ctx.scene.device))
            elif grads[k] is None:
                arguments.append(torch.zeros(ctx.shapes[k], dtype=b.types[k], device=ctx.scene.device))
            else:
                d = grads[k].contiguous()
                arguments.append(d.resolve_neg() if d.is_neg() else d)
        out = _run(b.of, ctx.scene.made, ctx.scene.graph, ctx.sizes, arguments)
        made = [None] * (4 + len(needs))
        for k, d in zip(b.gives, out if isinstance(out, tuple) else (out,)):
            if needs[k]:
                made[4 + k] = d
        return tuple(made)


def _twice(ctx, needs, arguments, grads):
    """Gradients that can be differentiated."""
    tell("a second gradient of an op of edges is computed by PyTorch's functions, one after another")
    arguments = [a.view_as(a) if a is not None and a.requires_grad else a for a in arguments]   # what one is made of may be another one
    for k, (shape, dtype) in ctx.unread.items():   # gradients are the same whatever it is
        arguments[k] = torch.zeros(shape, dtype=dtype, device=ctx.scene.device, requires_grad=needs[k])
    out = by_torch(ctx.scene.of(arguments), ctx.roots)
    pairs = [(y, g.reshape(y.shape)) for y, g in zip(out, grads) if g is not None and y.requires_grad]
    wanted = [a for a, n in zip(arguments, needs) if n]
    made = iter(torch.autograd.grad([y for y, _ in pairs], wanted, [g for _, g in pairs], create_graph=True, allow_unused=True))
    return tuple([next(made) if n else None for n in needs])
