"""Ops as PyTorch's own: registered with their shapes and gradients, for autograd, torch.compile and CUDA graphs.

An op becomes `torch.ops.gnnc.NAME`, of maps, tensors and scalars in its order and the sizes that no array tells. Where a gradient
is wanted, its twin runs that leaves what the gradient's twin reads.
"""
import hashlib
import itertools
import keyword
import weakref

import torch

from . import _arrays, _native
from ._fast import _TYPES
from .module import _count

_numbers = itertools.count()


# ---- Shapes -------------------------------------------------------------------------------------
def _postfix(text, sizes):
    """The value of a size in postfix, of numbers or symbols."""
    two = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a // b,
           "%": lambda a, b: a % b, "ceildiv": lambda a, b: -(-a // b), "min": min, "max": max}
    stack = []
    for token in text.split():
        if token in two:
            b, a = stack.pop(), stack.pop()
            stack.append(two[token](a, b))
        else:
            stack.append(sizes[token] if token in sizes else int(token))
    return stack[0]


def _sizes(op, values, given):
    """Every size that arrays and numbers tell."""
    sizes = {s: n for s, n in given.items() if n >= 0}
    for p in op.params:
        t = values.get(p.name)
        if p.role in ("map", "tensor") and torch.is_tensor(t):
            for axis, n in zip(p.axes, t.shape):
                sizes.setdefault(axis, n)
    for s, text in op.sizes.items():
        if text:
            sizes[s] = _postfix(text, sizes)
    return sizes


class _Copies:
    """Copies of maps, as compiled code writes memory without counting. A graph that is captured cannot look: its maps stay."""

    @staticmethod
    def of(maps):
        return {n: a.owner.clone() for n, a in maps.items()}

    @staticmethod
    def same(copies, maps):
        if any(a.owner.is_cuda for a in maps.values()) and torch.cuda.is_current_stream_capturing():
            return True
        return copies is not None and all(torch.equal(copies[n], a.owner) for n, a in maps.items())


# ---- One op of PyTorch --------------------------------------------------------------------------
class _Registered:
    """An op, or with saved its twin, in PyTorch's registry."""

    def __init__(self, op, saved):
        self.op, self.saved, self.reads = op, saved, None
        self.backward = None   # of those who call its gradient themselves
        program = op._program(op.module._context(op.module.device), _native.SAVED if saved else 0)
        self.params = [p for p in program.params if not p.prefix]
        self.takes = [p for p in self.params if p.role != "result"]
        self.gives = [p for p in self.params if p.role == "result"]
        self.free = [s for s, n in op.sizes.items() if n is None]
        self.name = "%s_%s%d" % (program.name, hashlib.sha1(op.module.source.path.encode()).hexdigest()[:6], next(_numbers))
        kinds = [("Tensor" if p.role != "scalar" else "bool" if p.dtype == 6 else "int" if p.is_index or p.dtype in (4, 5) else "float")
                 for p in self.takes]
        schema = ", ".join(["%s %s" % (k, self._word(p)) for k, p in zip(kinds, self.takes)] + ["SymInt[] sizes"])
        _library = op.module.registry   # goes with the module
        _library.define("%s(%s) -> (%s)" % (self.name, schema, ", ".join(["Tensor"] * len(self.gives))))
        _library.impl(self.name, self._weakly("_run"), "CompositeExplicitAutograd")
        full = "gnnc::" + self.name
        torch.library.register_fake(full, self._weakly("_fake"), lib=_library)
        torch.library.register_vmap(full, self._weakly("_vmap"), lib=_library)
        gradients = [] if saved and not op.gradients else op.gradients
        if gradients:
            torch.library.register_autograd(full, self._weakly("_backward"), setup_context=self._weakly("_setup"), lib=_library)
        self.call = getattr(torch.ops.gnnc, self.name).default

    def _weakly(self, name):
        """A method for the registry, which does not keep the module."""
        of = weakref.ref(self)
        return lambda *args, **kwargs: getattr(of(), name)(*args, **kwargs)

    @staticmethod
    def _word(p):
        """Its name in a schema, which PyTorch has words of its own in. What is saved is called after a stage, as a.max."""
        odd = keyword.iskeyword(p.name) or p.name in ("self", "sizes", "Tensor", "None")
        return p.name.replace(".", "__") + ("_" if odd else "")

    def _vmap(self, info, in_dims, *args):
        raise NotImplementedError("%s cannot be mapped by vmap: an axis more in its text says what a batch is" % self.op.path)

    def _given(self, sizes):
        return dict(zip(self.free, sizes))

    # ---- Forward --------------------------------------------------------------------------------
    def _run(self, *args):
        op, values = self.op, dict(zip([p.name for p in self.takes], args))
        values.update({s: n for s, n in self._given(args[-1]).items() if n >= 0})
        saved = {p.name: values.pop(p.name) for p in self.takes if p.saved or p.given}
        for p in self.takes:
            t = values.get(p.name)
            if torch.is_tensor(t) and p.role == "tensor" and t.is_neg():
                t = values[p.name] = t.resolve_neg()
            if torch.is_tensor(t) and p.role == "tensor" and not p.strided and t.dim() and t.stride(-1) != 1:
                values[p.name] = t.contiguous()
        maps, others, sizes = op._split(values)
        plan = op._kept_plan(maps, others, sizes, _native.SAVED if self.saved else 0, _Copies)
        for n, t in saved.items():
            others[n] = _arrays.of(t, n)
        like = next(t for t in args if torch.is_tensor(t))
        out = []
        for p in plan.program.params:
            if p.role == "result":
                shape, dtype = plan.shapes[p.name]
                out.append(torch.empty(shape, dtype=_TYPES[dtype], device=like.device))
                others[p.name] = _arrays.of(out[-1], p.name)
        plan.launch(others, like)
        return out[0] if len(out) == 1 else tuple(out)

    def _fake(self, *args):
        values = dict(zip([p.name for p in self.takes], args))
        sizes = _sizes(self.op, values, self._given(args[-1]))
        like = next(t for t in args if torch.is_tensor(t))
        wide = any(p.role == "map" and values[p.name].dtype == torch.int64 for p in self.takes)
        out = []
        for p in self.gives:
            shape = []
            for axis in p.axes:
                if axis not in sizes:
                    raise ValueError("%s: the size of %s is not given, and no array tells it" % (self.op.path, axis))
                shape.append(sizes[axis])
            dtype = (torch.int64 if wide else torch.int32) if p.is_index else _TYPES[p.dtype]
            out.append(torch.empty(shape, dtype=dtype, device=like.device))
        return out[0] if len(out) == 1 else tuple(out)

    # ---- Backward -------------------------------------------------------------------------------
    def _setup(self, ctx, inputs, output):
        outputs = output if isinstance(output, tuple) else (output,)
        reads = self._read_by_gradients()   # the others may be written, as results of PyTorch's may
        kept = [t for t in inputs[:-1] if torch.is_tensor(t)] + [t for p, t in zip(self.gives, outputs) if p.name in reads]
        ctx.save_for_backward(*kept)
        ctx.places = [torch.is_tensor(t) for t in inputs[:-1]]
        ctx.numbers = [None if torch.is_tensor(t) else t for t in inputs[:-1]]
        ctx.sizes = inputs[-1]
        ctx.owner = self.op   # and so its module, which the registry does not keep

    def _gradient_of(self, g):
        return registered(g, self.saved and not g.gradients)

    def _read_by_gradients(self):
        """Names of results that a gradient reads."""
        if self.reads is None:
            self.reads = {p.name for g in self.op.gradients for p in self._gradient_of(g).takes
                          if p.adjoint_of is None and (p.saved or p.given)}
        return self.reads

    def _backward(self, ctx, *grads):
        return self.adjoints(ctx, grads, ctx.needs_input_grad, lambda of, args, sizes: of.call(*args, sizes)) + (None,)

    def adjoints(self, ctx, grads, needs, run):
        """The adjoint of each argument, or None; run: calls a gradient on arguments and sizes."""
        kept = list(ctx.saved_tensors)
        values = {}
        for p, is_tensor, number in zip(self.takes, ctx.places, ctx.numbers):
            values[p.name] = kept.pop(0) if is_tensor else number
        outputs = dict(zip([p.name for p in self.gives if p.name in self._read_by_gradients()], kept))
        given = dict(zip([p.name for p in self.gives], grads))
        shapes = _sizes(self.op, values, self._given(ctx.sizes))
        wanted = {p.name: need for p, need in zip(self.takes, needs)}
        has = {p.adjoint_of for g in self.op.gradients for p in g.params if p.role == "result"}
        lacks = [n for n, need in wanted.items() if need and n not in has]
        if lacks:   # those of a second gradient: of a first one, the call was refused
            raise RuntimeError("%s has no gradient with respect to %s, which requires one: `grad %s wrt (%s) as NAME;` derives it"
                               % (self.op.path, ", ".join(lacks), self.op.path, ", ".join(sorted(has) + lacks)))
        made = {}
        for g in self.op.gradients:
            if any(p.role == "result" and wanted.get(p.adjoint_of) for p in g.params):
                made.update(self._gradient(g, values, outputs, given, shapes, run))
        return tuple([made.get(p.name) if wanted[p.name] else None for p in self.takes])

    def _gradient(self, g, values, outputs, given, shapes, run):
        of = self._gradient_of(g)
        args = []
        for p in of.takes:
            if p.adjoint_of is not None:
                d, dtype = given[p.adjoint_of], _TYPES[p.dtype]
                if d is None:
                    like = next(t for t in values.values() if torch.is_tensor(t))
                    d = torch.zeros([shapes[a] for a in p.axes], dtype=dtype, device=like.device)
                args.append(d.contiguous().resolve_neg().to(dtype))
            else:
                args.append(outputs[p.name] if p.saved or p.given else values[p.name])
        out = run(of, args, [shapes.get(s, -1) for s in of.free])
        out = out if isinstance(out, tuple) else (out,)
        return {p.adjoint_of: t for p, t in zip(of.gives, out)}


def registered(op, saved):
    """The op of PyTorch of an op; saved: of its twin, where it has one."""
    name = "_torch_twin" if saved else "_torch_plain"
    if getattr(op, name) is None:
        setattr(op, name, _Registered(op, saved))
    return getattr(op, name)


def register(module):
    """Registers all ops, so that torch.compile finds them there: it cannot trace what registers one."""
    if module.registry is None:
        module.registry = torch.library.Library("gnnc", "FRAGMENT")
        weakref.finalize(module, module.registry._destroy).atexit = False
    for op in module.ops.values():
        op._torch_keeps = op._keeps()
        registered(op, False)
        if op._torch_keeps or (op.gradient_of and not op.gradients):
            registered(op, True)


# ---- Calls --------------------------------------------------------------------------------------
def _checked(op, p, t):
    if not torch.is_tensor(t):
        raise TypeError("%s: %s is a %s, and has to be a tensor" % (op.path, p.name, type(t).__name__))
    if p.role == "tensor" and t.dtype != _TYPES[p.dtype] and torch.is_autocast_enabled(t.device.type):
        return t.to(_TYPES[p.dtype])
    return t


def call(op, values):
    """The results of an op on tensors and numbers by name."""
    if op._torch_plain is None:
        register(op.module)
    plain = op._torch_plain
    results = [p.name for p in plain.gives if p.name in values]
    if results:
        raise TypeError("%s: the result %s is given; a plan writes into memory of the caller's" % (op.path, results[0]))
    arguments = []
    wants = False
    for p in plain.takes:
        if p.name not in values or values[p.name] is None:
            raise TypeError("%s: %s is not given" % (op.path, p.name))
        t = values[p.name] if p.role == "scalar" else _checked(op, p, values[p.name])
        if p.role == "scalar" and torch.is_tensor(t):
            if torch.is_grad_enabled() and t.requires_grad:
                raise RuntimeError("%s has no gradient with respect to the scalar %s, which requires one: an axis of no extent, "
                                   "%s: T[], is a tensor" % (op.path, p.name, p.name))
            t = t.item()
        wants = wants or (p.role == "tensor" and torch.is_grad_enabled() and t.requires_grad)
        arguments.append(t)
    if not torch.compiler.is_compiling():
        _refuse_forward_mode(op, arguments)
        if torch._C._functorch.maybe_current_level() is not None:
            raise NotImplementedError("%s cannot be mapped by vmap, nor be called under torch.func: torch.autograd.grad gives its "
                                      "gradients, and an axis more in its text says what a batch is" % op.path)
    if wants:
        _must_have_gradients(op, plain, arguments)
    used = op._torch_twin if wants and op._torch_keeps else plain
    sizes = [values.get(s, -1) if torch.compiler.is_compiling() or s not in values else _count(op.path, s, values[s]) for s in plain.free]
    out = None
    if not torch.compiler.is_compiling() and _is_eager(arguments):
        out = _Eager.apply(used, sizes, *arguments) if wants and not any(g.gradients for g in op.gradients) else \
            None if wants else _launched(used, arguments, sizes)
    if out is None:
        out = used.call(*arguments, sizes)
    if not isinstance(out, tuple):
        return out
    out = out[:len(plain.gives)]
    return out[0] if len(out) == 1 else out


# ---- Without PyTorch's registry, which takes longer than a small launch -------------------------------
_NUMBERS = (int, float, bool)
_PLAIN = (torch.Tensor, torch.nn.Parameter, int, float, bool)


def _is_eager(arguments):
    """Whether nothing but the values is wanted: no mode of PyTorch's sees calls, and no class of tensors has its own."""
    if torch._C._len_torch_dispatch_stack() or torch._C._functorch.maybe_current_level() is not None or \
            torch._C._get_tracing_state() is not None:
        return False
    for t in arguments:
        kind = type(t)
        if kind not in _NUMBERS and (kind not in _PLAIN or t.is_meta or t.is_neg()):
            return False
    return True


def _launched(of, arguments, sizes):
    """The results by a plan that is kept; None: PyTorch's op has to be asked, which copies what lies otherwise."""
    plan, tensors = plan_for(of, arguments, sizes)
    if plan is None:
        return None
    out = plan._quick(tensors, [v for p, v in zip(of.takes, arguments) if p.role == "scalar"])
    return out[0] if len(out) == 1 else tuple(out)


def _taken(of, arguments):
    maps = [t for p, t in zip(of.takes, arguments) if p.role == "map"]
    return maps, [t for p, t in zip(of.takes, arguments) if p.role == "tensor"]


def _split(of, arguments, sizes):
    named = {p.name: t for p, t in zip(of.takes, arguments) if not p.saved and not p.given}
    named.update({s: n for s, n in zip(of.free, sizes) if n >= 0})
    return of.op._split(named)


def plan_for(of, arguments, sizes):
    """The plan that is kept for arguments, and those of them that are tensors; None: it does not take them as they are."""
    op, (maps, tensors) = of.op, _taken(of, arguments)
    if not tensors or any(t.is_inference() for t in maps):
        return None, tensors
    key = (tensors[0].device, of.saved, tuple(sizes), tuple([t.shape for t in tensors]),
           tuple([(t.data_ptr(), t._version, t.shape, t.stride(), t.dtype) for t in maps]))
    plan = op._eager.get(key)
    if plan is None:
        plan = op._kept_plan(*_split(of, arguments, sizes), _native.SAVED if of.saved else 0)
        while len(op._eager) >= len(op._plans):
            op._eager.pop(next(iter(op._eager)))
        op._eager[key] = plan
    return plan if _takes(plan, tensors) else None, tensors


def plan_of_graph(of, arguments, sizes, shared):
    """The same of maps that are a graph's own: who asks keeps the plan as long as the graph."""
    tensors = _taken(of, arguments)[1]
    if not tensors:
        return None, tensors
    maps, others, sizes = _split(of, arguments, sizes)
    plan = of.op._plan(of.op._device({**maps, **others}), maps, others, sizes, _native.SAVED if of.saved else 0, shared)
    return plan if _takes(plan, tensors) else None, tensors


def _takes(plan, tensors):
    return plan.tensors == len(tensors) and all(t.stride(-1) == 1 for t in tensors if t.dim())


class _Eager(torch.autograd.Function):
    """An op and its gradients, once differentiable."""

    @staticmethod
    def forward(ctx, of, sizes, *arguments):
        out = _launched(of, arguments, sizes)
        if out is None:
            out = of.call(*arguments, sizes)
        ctx.of = of
        of._setup(ctx, (*arguments, sizes), out)
        ctx.mark_non_differentiable(*[t for p, t in zip(of.gives, out if isinstance(out, tuple) else (out,))
                                      if p.saved or not t.is_floating_point()])
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, *grads):
        made = ctx.of.adjoints(ctx, grads, ctx.needs_input_grad[2:],
                               lambda of, args, sizes: _or(_launched(of, args, sizes), of, args, sizes))
        return (None, None) + made


def _or(out, of, args, sizes):
    return of.call(*args, sizes) if out is None else out


def _refuse_forward_mode(op, arguments):
    """Tangents would be lost without a word."""
    if torch.autograd.forward_ad._current_level >= 0 and \
            any(torch.is_tensor(t) and torch.autograd.forward_ad.unpack_dual(t).tangent is not None for t in arguments):
        raise NotImplementedError("%s has no derivative in forward mode" % op.path)


def _must_have_gradients(op, plain, arguments):
    """A gradient that the text does not derive would be none, without a word."""
    has = {p.adjoint_of for g in op.gradients for p in g.params if p.role == "result"}
    lacks = [p.name for p, t in zip(plain.takes, arguments) if p.role == "tensor" and t.requires_grad and p.name not in has]
    if lacks:
        raise RuntimeError("%s has no gradient with respect to %s, which requires one: `grad %s wrt (%s);` derives it"
                           % (op.path, ", ".join(lacks), op.path, ", ".join(sorted(has) + lacks)))
