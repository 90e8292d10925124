"""Ops on JAX arrays: under `jax.jit`, with derived gradients as a `custom_vjp`. Needs jax, apache-tvm-ffi and jax-tvm-ffi.

    layer = gnnc.jax.on(layers.gat, graph)     # maps and sizes are settled; tensors are arguments
    y = jax.jit(layer)(l, r, x)
    d = jax.grad(lambda x: layer(l, r, x).sum())(x)
"""
import itertools

import jax
import jax_tvm_ffi
import numpy

from . import _arrays
from .graph import Graph

_numbers = itertools.count()
_types = ("float64", "float32", "bfloat16", "float16", "int32", "int64", "bool")


def _host(a):
    """A copy of a map where plans of the host read it."""
    return _arrays.fixed(numpy.asarray(a))


def _registered(plan, platform):
    name = "gnnc_%s_%d" % (plan.op.path.replace(".", "_"), next(_numbers))
    function = plan.ffi()
    numbers = [p.name for p in plan.op.params if p.role == "scalar"]
    if numbers:
        raise NotImplementedError("%s takes the number %s: a tensor of no axes, %s: f32[], is an array" % (plan.op.path, numbers[0], numbers[0]))
    jax_tvm_ffi.register_ffi_target(name, function.func, ["args", "rets"], platform=platform)
    return name


class _Call:
    """A planned op as a function of JAX."""

    def __init__(self, plan, platform):
        self.plan, self.name = plan, _registered(plan, platform)   # JAX keeps what is registered for good, and so does this
        results = [p.name for p in plan.program.params if p.role == "result"]
        self.shapes = [jax.ShapeDtypeStruct(plan.shapes[n][0], _types[plan.shapes[n][1]]) for n in results]
        _kept.append(self)

    def __call__(self, *tensors):
        out = jax.ffi.ffi_call(self.name, tuple(self.shapes))(*tensors)
        return out[0] if len(out) == 1 else tuple(out)


_kept = []


def on(op, *args, platform=None, shapes=None, **kwargs):
    """The op on one graph as a function of its tensors: a gnnc.Graph, or maps and sizes, as for `op.plan`.

    shapes: of tensors by name, where no map tells a size: {"x": (1000, 64)}. platform: "cpu" or "gpu"; by default JAX's.
    Where the text derives gradients of the op, `jax.grad` takes them.
    """
    platform = platform or ("cpu" if jax.default_backend() == "cpu" else "gpu")
    if platform == "gpu":
        raise NotImplementedError("gnnc.jax runs on the host alone: platform='cpu'")
    if args and isinstance(args[0], Graph):
        maps, sizes = args[0].arguments(op.params)
        kwargs = {**{n: _host(m) for n, m in maps.items()}, **{s: n for s, n in sizes.items() if op.sizes.get(s) is None}, **kwargs}
        args = args[1:]
    given = op._by_name([p.name for p in op.params if p.role == "map"], args, kwargs)
    given = {n: _host(v) if n in {p.name for p in op.params if p.role == "map"} else v for n, v in given.items()}
    for name, shape in (shapes or {}).items():
        p = next((p for p in op.params if p.name == name), None)
        if p is None or len(p.axes) != len(shape):
            raise ValueError("%s has no tensor %s with %d axes" % (op.path, name, len(shape)))
        for axis, n in zip(p.axes, shape):
            if op.sizes.get(axis) is None:
                given.setdefault(axis, n)
    forward = _Call(op.plan(**given), platform)
    gradients = op.gradients
    if not gradients:
        return forward
    tensors = [p.name for p in op.params if p.role == "tensor"]
    results = [p.name for p in op.results]
    backward = [(g, _Call(g.plan(**{n: v for n, v in given.items() if n in g.sizes or n in {p.name for p in g.params}}), platform))
                for g in gradients]
    made = jax.custom_vjp(forward.__call__)

    has = {p.adjoint_of for g in gradients for p in g.results}

    def ahead(*primals):
        lacks = [n for n, p in zip(tensors, primals) if p.perturbed and n not in has]
        if lacks:
            raise ValueError("%s has no gradient with respect to %s: `grad %s wrt (%s);` derives it"
                             % (op.path, ", ".join(lacks), op.path, ", ".join(sorted(has) + lacks)))
        arrays = [p.value for p in primals]
        out = forward(*arrays)
        return out, (arrays, out if isinstance(out, tuple) else (out,))

    def back(kept, d):
        values, given_d = dict(zip(tensors, kept[0])), {}
        for n, a in zip(results, d if isinstance(d, tuple) else (d,)):
            given_d[n] = jax.numpy.zeros(a.shape, a.dtype) if isinstance(a, jax.custom_derivatives.SymbolicZero) else a
        values.update(zip(results, kept[1]))
        adjoints = {}
        for g, call in backward:
            out = call(*[given_d[p.adjoint_of] if p.adjoint_of is not None else values[p.name] for p in g.params if p.role == "tensor"])
            adjoints.update(zip([p.adjoint_of for p in g.results], out if isinstance(out, tuple) else (out,)))
        return tuple(adjoints.get(n, jax.numpy.zeros_like(values[n])) for n in tensors)
    made.defvjp(ahead, back, symbolic_zeros=True)
    return made
