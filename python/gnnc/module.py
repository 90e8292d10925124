"""Ops of a compiled text, called on arrays."""
import ctypes
import operator
import sys
from collections import OrderedDict
from ctypes import byref, c_void_p

from . import _arrays, _native
from ._compiler import Source, meant
from .graph import Graph

_PLANS = 8   # that an op keeps, those used last


def _count(path, name, v):
    try:
        n = operator.index(v)
    except TypeError:
        raise TypeError("%s: the size %s is %r, and has to be a whole number" % (path, name, v)) from None
    if n < 0:
        raise ValueError("%s: the size %s is %d" % (path, name, n))
    return n


class Param:
    """A parameter or result of an op: `name`, `role` ("map", "tensor", "scalar", "result"), `dtype`, `axes` and `into` (names
    of spaces), and facts of it. `adjoint_of`: of a gradient, which parameter or result it is the adjoint of."""

    def __init__(self, info, spaces):
        self.name, self.role = info.name.decode(), _native.ROLES[info.role]
        self.dtype, self.is_index = info.dtype, info.is_index
        self.sorted, self.unique, self.partial, self.prefix = info.sorted, info.unique, info.partial, info.prefix
        self.strided, self.saved, self.given = info.strided, info.saved, info.given
        self.unread = bool(info.unread)   # of a tensor: its shape alone is read
        self.axes = tuple(spaces[info.axes[k]] for k in range(info.rank))
        self.into = spaces[info.into] if info.into >= 0 else None
        self.inplace = info.inplace
        self.adjoint_of = info.adjoint_of.decode() if info.adjoint_of else None

    def field(self):
        """Which field of a gnn_scalar has it."""
        return "i64" if self.is_index else {0: "f64", 4: "i32", 5: "i64", 6: "i64"}.get(self.dtype, "f32")

    def number(self, v):
        """A number as the op takes it."""
        return bool(v) if self.dtype == 6 else int(v) if self.is_index or self.dtype in (4, 5) else float(v)

    def __repr__(self):
        kind = "index" if self.is_index else _native.DTYPES[self.dtype]
        if self.role == "map":
            facts = [f for f in ("sorted", "unique", "partial") if getattr(self, f)]
            return "%s: %s" % (self.name, " ".join([" x ".join(self.axes), "->", self.into, *facts]))
        return "%s: %s%s" % (self.name, kind, "" if self.role == "scalar" else "[%s]" % ", ".join(self.axes))


class _Program:
    """What is told of a program: parameters in its order, spaces."""

    def __init__(self, context, pointer):
        library = _native.runtime()
        self.pointer, self.spaces, self.sizes = pointer, [], {}
        for i in range(library.gnn_program_spaces(pointer)):
            s = _native.SpaceInfo()
            context.must(library.gnn_program_space(pointer, i, byref(s)))
            self.spaces.append(s.name.decode())
            self.sizes[self.spaces[-1]] = None if s.is_free else s.size.decode() if s.size else ""
        self.params = []
        for i in range(library.gnn_program_params(pointer)):
            p = _native.ParamInfo()
            context.must(library.gnn_program_param(pointer, i, byref(p)))
            self.params.append(Param(p, self.spaces))
        of = library.gnn_program_gradient_of(pointer)
        self.gradient_of = of.decode() if of else None
        self.name = library.gnn_program_name(pointer).decode()


class _Loaded:
    """A library on a device, with its ops."""

    def __init__(self, context, data):
        library = _native.runtime()
        self.context, self.pointer, self.ops, self.paths = context, c_void_p(), {}, []
        self.plans, self.dropped = 0, False
        context.must(library.gnn_library_read(context.pointer, data, len(data), byref(self.pointer)))
        for i in range(library.gnn_library_ops(self.pointer)):
            self.paths.append(library.gnn_library_path(self.pointer, i).decode())

    # Whatever goes first: the last of the plans and of this frees the library. Both may be found unreachable at once, in any order.
    def __del__(self):
        with self.context.lock:
            self.dropped = True
            self._close()

    def release(self, plan):
        """Frees a plan of an op of this library."""
        with self.context.lock:
            _native.runtime().gnn_plan_free(plan)
            self.plans -= 1
            self._close()

    def _close(self):
        if self.dropped and not self.plans and self.pointer:
            for op in self.ops.values():
                _native.runtime().gnn_op_free(op)
            _native.runtime().gnn_library_close(self.pointer)
            self.pointer = None

    def op(self, path):
        library = _native.runtime()
        if path not in self.ops:
            op = c_void_p()
            artefact = library.gnn_library_op(self.pointer, self.paths.index(path))
            self.context.must(library.gnn_op_load(artefact, self.context.pointer, byref(op)))
            self.ops[path] = op
        return self.ops[path]


class Shared:
    """What plans of the same maps share, such as their offsets and orders, while this lives: arrays of the maps stay as they are."""

    def __init__(self):
        self.kept = {}   # by device: the context, and its cache

    def of(self, context):
        """The cache of a context."""
        if context.device not in self.kept:
            made = c_void_p()
            with context.lock:
                context.must(_native.runtime().gnn_cache_new(context.pointer, byref(made)))
            self.kept[context.device] = context, made
        return self.kept[context.device][1]

    def __del__(self):
        for context, made in self.__dict__.get("kept", {}).values():
            with context.lock:
                _native.runtime().gnn_cache_free(made)


def _are_quick(args):
    """Whether they are plain tensors that nobody watches, as below; it is asked at each call of a plan."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    tensor, grad = torch.Tensor, torch.is_grad_enabled()
    for a in args:
        if type(a) is not tensor or (grad and a.requires_grad) or a.is_neg():
            return False
    return torch._C._get_tracing_state() is None and torch._C._functorch.maybe_current_level() is None


def _is_watched(torch, values):
    """Whether PyTorch wants to know of a call: for gradients, of either mode, for a trace or a transform."""
    tensors = [t for t in values if isinstance(t, torch.Tensor)]
    return (torch.is_grad_enabled() and any(t.requires_grad for t in tensors)) or torch._C._get_tracing_state() is not None or \
        torch._C._functorch.maybe_current_level() is not None


class Plan:
    """An op on one graph: its maps and sizes are settled, checked and prepared. Called like the op, without them.

    Arrays of the maps stay as they are while the plan is used. `version` tells which of the op's versions a call takes.
    """

    def __init__(self, op, loaded, flags, maps, values, sizes, stream, shared=None):
        context, handle = loaded.context, loaded.op(op.path)
        library = _native.runtime()
        self.op, self.context, self.maps = op, context, maps
        self.program = op._program(context, flags)
        self.pointer, self.copies = c_void_p(), None
        named = (_native.NamedMap * (len(maps) + 1))()
        for k, (name, m) in enumerate(maps.items()):
            named[k] = _native.NamedMap(name.encode(), m[0])
        given = (_native.Size * (len(sizes) + 1))(*[_native.Size(n.encode(), v) for n, v in sizes.items()])
        args, _ = self._arguments(values, partial=True)
        options = _native.PlanOptions(sizes=given, nsizes=len(sizes), maps=named, nmaps=len(maps), args=args,
                                      nargs=len(self.program.params), flags=flags, stream=stream,
                                      cache=shared.of(context) if shared is not None else None)
        with context.lock:
            context.must(library.gnn_op_plan_named(handle, byref(options), 0, byref(self.pointer)))
            loaded.plans += 1
            self.loaded = loaded
            program = library.gnn_plan_program(self.pointer)
            if program != self.program.pointer:
                self.program = _Program(context, program)
            self.shapes = {}
            for i, p in enumerate(self.program.params):
                if p.role == "result" or p.saved:
                    t = _native.Tensor()
                    context.must(library.gnn_plan_shape(self.pointer, i, byref(t)))
                    self.shapes[p.name] = tuple(t.shape[:t.rank]), t.dtype
        self.workspace = library.gnn_plan_workspace(self.pointer)
        # of a call without memory that a result may share; 0: it has some
        roles = [p.role for p in self.program.params]
        self.tensors = 0 if any(p.inplace >= 0 for p in self.program.params) else roles.count("tensor")
        self._plain = 0 if flags or "scalar" in roles else self.tensors
        self._bound = None
        self.functions = []   # of the TVM FFI

    def __del__(self):
        loaded = self.__dict__.get("loaded")   # None: it was not made
        if loaded is not None:
            for f in self.__dict__.get("functions", ()):
                with self.context.lock:
                    _native.runtime().gnn_ffi_free(f)
            loaded.release(self.pointer)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("a plan is of this process: what it was made of can be pickled")

    def _arguments(self, values, partial=False):
        params = self.program.params
        args = (_native.Arg * (len(params) + 1))()
        keep = []
        for i, p in enumerate(params):
            if p.role == "map" or p.name not in values:
                if not partial and p.role != "map":
                    raise TypeError("%s: %s is not given" % (self.op.path, p.name))
                continue
            v = values[p.name]
            if p.role == "scalar":
                setattr(args[i].scalar, p.field(), v)
            else:
                t = _arrays.tensor_of(v)
                keep.append(t)
                args[i].tensor = ctypes.pointer(t)
        return args, keep

    def launch(self, values, like):
        """Runs on Arrays and numbers by name; results are among them."""
        args, keep = self._arguments(values)
        workspace, owner = _arrays.memory(like, self.workspace)
        stream = _arrays.stream(like)
        with self.context.lock:
            self.context.must(_native.runtime().gnn_launch(self.pointer, args, len(self.program.params), workspace,
                                                          self.workspace, stream))
        return owner, keep

    def _quick(self, tensors, numbers=()):
        """Results on PyTorch tensors and numbers, each in the program's order; a list."""
        bound = self._bound
        if bound is None or not bound.fits(tensors):
            from ._fast import Bound
            bound = self._bound = Bound(self, tensors)
        return bound(tensors, numbers)

    def __call__(self, *args, **kwargs):
        """The op's results, of tensors and scalars in its order or by name."""
        if self._plain and not kwargs and len(args) == self._plain:
            if _are_quick(args):
                out = self._quick(args)
                return out[0] if len(out) == 1 else tuple(out)
        names = [p.name for p in self.op.params if p.role in ("tensor", "scalar")]
        values = self.op._by_name(names, args, kwargs)
        torch = sys.modules.get("torch")
        if torch is not None and _is_watched(torch, values.values()):
            raise RuntimeError("a plan of %s gives no gradients, and nothing traces it: call the op, which keeps its plans, or detach "
                               "the tensors" % self.op.path)
        settled = [n for n in values if n in self.op.sizes or n in self.maps]
        if settled:
            raise TypeError("%s: %s of a plan is settled" % (self.op.path, settled[0]))
        return self.op._launch(self, values)

    def ffi(self):
        """The plan as a function of the TVM FFI: called with tensors and numbers in the op's order, then results, which it writes.

        Tensors are of any package that has DLPack, and calls run on its stream. It takes less than a call of the plan, and JAX
        can call it (gnnc.jax). One thread calls it at a time. Needs the package apache-tvm-ffi.
        """
        from ._ffi import function
        return function(self)

    def version(self, **values):
        """The name of the version that a call with these arrays takes."""
        given = {n: _arrays.of(v, n) if _arrays.of(v, n) is not None else v for n, v in values.items()}
        like = next(v.owner for v in given.values() if isinstance(v, _arrays.Array))
        for p in self.op.params:
            if p.role == "result" and p.name not in given:
                given[p.name] = _arrays.of(_arrays.empty(like, *self.shapes[p.name]))
        args, _ = self._arguments(given)
        name = ctypes.c_char_p()
        with self.context.lock:
            self.context.must(_native.runtime().gnn_plan_version(self.pointer, args, len(self.program.params), byref(name)))
        return name.value.decode()


class Op:
    """An op, called on arrays: maps, tensors and scalars in its order or by name, sizes that nothing tells by name.

    Results are new arrays of the package that the arguments are of: one, or a tuple. `help(op)` and `op.params` tell more.
    """

    def __init__(self, module, path):
        self.module, self.path = module, path
        self._programs, self._plans = {}, OrderedDict()
        self._torch_plain = self._torch_twin = None   # what PyTorch has of it, and of its twin
        self._torch_keeps, self._eager = False, {}
        first = self._program(module._context(module.device), 0)
        self.name, self.gradient_of = first.name, first.gradient_of
        self.params, self.sizes = first.params, first.sizes
        self.__name__, self.__doc__ = path, self._describe()

    def _describe(self):
        said = [p for p in self.params if p.role != "result" and not p.prefix]
        free = [s for s, size in self.sizes.items() if size is None]
        lines = ["%s(%s) -> (%s)" % (self.path, ", ".join(map(repr, said)), ", ".join(repr(p) for p in self.results)), "",
                 "Sizes: " + ", ".join(s if n is None else "%s = %s" % (s, n) for s, n in self.sizes.items() if n != "")]
        if free:
            lines.append("Sizes that no array tells are given by name.")
        if self.gradient_of:
            lines.append("The gradient of %s." % self.gradient_of)
        return "\n".join(lines)

    def __repr__(self):
        return "<gnnc op %s>" % self.__doc__.splitlines()[0]

    @property
    def results(self):
        """The parameters that are results."""
        return [p for p in self.params if p.role == "result"]

    @property
    def gradients(self):
        """Ops of the module that are gradients of this one."""
        return [o for o in self.module.ops.values() if o.gradient_of == self.name]

    def _keeps(self):
        """Whether its twin leaves anything for its gradients."""
        context = self.module._context(self.module.device)
        return any(p.saved for p in self._program(context, _native.SAVED).params) or \
            any(p.given for g in self.gradients for p in g._program(context, _native.SAVED).params)

    def _program(self, context, flags):
        key = context.device, flags & _native.SAVED
        if key not in self._programs:
            loaded = self.module._loaded(context)
            with context.lock:
                pointer = _native.runtime().gnn_op_program(loaded.op(self.path), 0, flags)
                self._programs[key] = _Program(context, pointer)
        return self._programs[key]

    # ---- Arguments ------------------------------------------------------------------------------
    def _by_name(self, names, args, kwargs):
        """The values of a call by name; a graph in front stands for maps and sizes."""
        maps, sizes = {}, {}
        if args and isinstance(args[0], Graph):
            maps, sizes = args[0].arguments(self.params)
            lacks = [p.name for p in self.params if p.role == "map" and not p.prefix and p.name not in maps and p.name not in kwargs]
            if lacks:
                raise TypeError("%s: the graph has %s; the map %s is not among them: graph.add(%r, values, size)"
                                % (self.path, ", ".join(args[0].maps), lacks[0], lacks[0]))
            args, names = args[1:], [n for n in names if n not in maps]
            sizes = {s: n for s, n in sizes.items() if self.sizes.get(s) is None and s not in kwargs}
        if len(args) > len(names):
            raise TypeError("%s takes %d arguments (%s), and is given %d" % (self.path, len(names), ", ".join(names), len(args)))
        values = {**maps, **sizes, **dict(zip(names, args))}
        for name, v in kwargs.items():
            if name in values:
                raise TypeError("%s: %s is given twice" % (self.path, name))
            values[name] = v
        known = {p.name for p in self.params} | set(self.sizes)
        unknown = [n for n in values if n not in known]
        if unknown:
            raise TypeError("%s has no %s; it has %s" % (self.path, ", ".join(unknown), ", ".join(sorted(known))))
        return values

    def _split(self, values):
        """(maps, tensors and scalars, sizes) as Arrays and numbers."""
        roles = {p.name: p for p in self.params}
        maps, others, sizes = {}, {}, {}
        for name, v in values.items():
            p = roles.get(name)
            if v is None:
                raise TypeError("%s: %s is None" % (self.path, name))
            if p is None:
                n = _count(self.path, name, v)
                if sizes.setdefault(name, n) != n:
                    raise ValueError("%s: the size %s is %d, and %d by a map" % (self.path, name, n, sizes[name]))
                continue
            if p.role == "scalar":
                others[name] = p.number(v)
                continue
            a = _arrays.of(v, name)
            if a is None:
                raise TypeError("%s: %s is a %s, and has to be an array" % (self.path, name, type(v).__name__))
            if p.role == "map":
                if a.dtype not in (4, 5) or not a.is_packed():
                    raise TypeError("%s: the map %s has to be a packed array of int32 or int64" % (self.path, name))
                self._fit(p, a, sizes)
                maps[name] = a
            else:
                others[name] = a
        return maps, others, sizes

    def _fit(self, p, a, sizes):
        """Whether a map has an axis for each of its own; what several axes tell goes to sizes."""
        if len(a.shape) != len(p.axes):
            hint = ": gnnc.Graph.of(edge_index, nodes) stands for src and dst" if len(a.shape) == 2 and a.shape[0] == 2 else ""
            raise TypeError("%s: the map %s has %d axes (%s), and is given %d%s" % (self.path, p.name, len(p.axes), ", ".join(p.axes),
                                                                                  len(a.shape), hint))
        for axis, n in zip(p.axes, a.shape):
            if len(p.axes) > 1 and self.sizes[axis] is None and sizes.setdefault(axis, n) != n:
                raise ValueError("%s: %s is %d by %s, and %d otherwise" % (self.path, axis, n, p.name, sizes[axis]))

    def _device(self, arrays):
        devices = {a.device for a in arrays.values() if isinstance(a, _arrays.Array)}
        if len(devices) != 1:
            where = ", ".join("%s on %s" % (n, "the host" if a.device < 0 else "GPU %d" % (a.device - 1))
                              for n, a in arrays.items() if isinstance(a, _arrays.Array))
            raise TypeError("%s: arrays lie on several devices (%s)" % (self.path, where) if where else
                            "%s is given no array" % self.path)
        return devices.pop()

    # ---- Plans ----------------------------------------------------------------------------------
    def _domain(self, name, a):
        p = next(p for p in self.params if p.name == name)
        return a.shape[0] if len(p.axes) == 1 and a.shape else 0

    def plan(self, /, *args, _flags=0, **kwargs):
        """A Plan of these maps and sizes. Tensors may be given for the sizes that their shapes tell; their values are not read.

        Arrays of the maps have to stay as they are while the plan is used.
        """
        names = [p.name for p in self.params if p.role != "result" and not p.prefix]
        maps, others, sizes = self._split(self._by_name(names, args, kwargs))
        arrays = {**maps, **others}
        return self._plan(self._device(arrays), maps, others, sizes, _flags)

    def _plan(self, device, maps, others, sizes, flags, shared=None):
        context = self.module._context(device)
        like = next(a.owner for a in {**maps, **others}.values() if isinstance(a, _arrays.Array))
        missing = [p.name for p in self.params if p.role == "map" and not p.prefix and p.name not in maps]
        if missing:
            raise TypeError("%s: the map %s is not given" % (self.path, missing[0]))
        # an alias, as a tensor may be given other memory; those of a graph are its own
        for a in maps.values():
            a.owner = a.owner.detach() if hasattr(a.owner, "detach") else a.owner
        made = {n: (_native.Map(index=a.pointer, width=64 if a.dtype == 5 else 32, on_device=a.device != _native.HOST,
                                domain=self._domain(n, a), codomain=-1), a) for n, a in maps.items()}
        program = self._program(context, flags)
        known = {p.name for p in program.params}
        values = {n: v for n, v in others.items() if n in known and isinstance(v, _arrays.Array)}
        return Plan(self, self.module._loaded(context), flags, made, values, sizes, _arrays.stream(like), shared)

    def _kept_plan(self, maps, others, sizes, flags=0, copies=None):
        """A plan that is kept by its maps, where it is known that these do not change.

        copies: whoever calls writes memory that nobody counts, as compiled code does. It makes copies of maps, and says whether
        maps are still those.
        """
        device = self._device({**maps, **others})
        if any(a.version is None for a in maps.values()):
            return self._plan(device, maps, others, sizes, flags)
        shapes = tuple((n, a.shape) for n, a in others.items() if isinstance(a, _arrays.Array))
        key = (device, flags, shapes, tuple(sorted(sizes.items())),
               tuple((n, a.pointer, a.dtype, a.shape, a.strides, a.version) for n, a in maps.items()))
        plan = self._plans.pop(key, None)
        if plan is not None and copies is not None and not copies.same(plan.copies, maps):
            plan = None
        if plan is None:
            plan = self._plan(device, maps, others, sizes, flags)
            plan.copies = copies.of(maps) if copies is not None else None
        self._plans[key] = plan
        while len(self._plans) > _PLANS:
            self._plans.popitem(last=False)
        return plan

    # ---- Calls ----------------------------------------------------------------------------------
    def _launch(self, plan, values, names=None):
        """Results by a plan. values: arrays and numbers by name, among them results to be written into."""
        _, others, _ = self._split({n: v for n, v in values.items() if n not in self.sizes})
        like = next((a.owner for a in others.values() if isinstance(a, _arrays.Array)), None)
        if like is None:
            like = next(iter(plan.maps.values()))[1].owner
        out = {}
        for p in plan.program.params:
            if p.role == "result":
                out[p.name] = values[p.name] if p.name in values else _arrays.empty(like, *plan.shapes[p.name])
                others[p.name] = _arrays.of(out[p.name], p.name)
                if others[p.name].read_only:
                    raise TypeError("%s: %s is read-only" % (self.path, p.name))
                if p.name in values and "torch" in sys.modules and isinstance(out[p.name], sys.modules["torch"].Tensor):
                    sys.modules["torch"].autograd.graph.increment_version(out[p.name])
        plan.launch(others, like)
        if names is not None:
            return [out[n] for n in names]
        wanted = [out[p.name] for p in self.results]
        return wanted[0] if len(wanted) == 1 else tuple(wanted)

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return operator.getitem, (self.module, self.path)

    def __call__(self, /, *args, **kwargs):
        names = [p.name for p in self.params if p.role != "result" and not p.prefix]
        values = self._by_name(names, args, kwargs)
        torch = sys.modules.get("torch")
        if torch is not None and any(isinstance(v, torch.Tensor) for v in values.values()):
            from . import _torch
            return _torch.call(self, values)
        maps, others, sizes = self._split(values)
        return self._launch(self._kept_plan(maps, others, sizes), {n: v for n, v in values.items() if n not in maps})

    # ---- What the compiler says of it -------------------------------------------------------------
    def emit(self, form, target=None):
        """A text of the op: "ptx", "simt", "loop", "plan", "tensor", "schedule", "manifest" and others (gnnc --help)."""
        return self.module.source.emit(form, target or self.module.target, self.path)

    def check(self, graph, **sizes):
        """Runs the op on a graph (a file or a generator, such as "rmat:10:8") and compares it with its definition."""
        words = ["--size=%s=%d" % s for s in sizes.items()]
        return self.module.source.run("run", self.path, self.module.target, ["--graph=" + graph, "--check", *words])

    def bench(self, graph, **sizes):
        """What gnnc bench prints of the op on a graph."""
        words = ["--size=%s=%d" % s for s in sizes.items()]
        return self.module.source.run("bench", self.path, self.module.target, ["--graph=" + graph, *words])


class Module:
    """The ops of a text, as attributes: `module.gat`; `module["gat.grad"]` is the gradient of gat."""

    def __init__(self, source, target):
        self.source, self.target = source, target
        self.device = _native.HOST if target == "host" else 1
        self._libraries, self._data = {}, {}
        self.registry = None   # of PyTorch, with its ops
        self.ops = {}
        loaded = self._loaded(self._context(self.device))
        for path in loaded.paths:
            self.ops[path] = Op(self, path)
        if "torch" in sys.modules:
            from . import _torch
            _torch.register(self)

    def _context(self, device):
        return _native.Context.of(device)

    def _loaded(self, context):
        with context.lock:
            if context.device not in self._libraries:
                target = "host" if context.device == _native.HOST else _native.architecture(context)
                if target not in self._data:
                    self._data[target] = self.source.library(target)
                self._libraries[context.device] = _Loaded(context, self._data[target])
            return self._libraries[context.device]

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return Module, (self.source, self.target)

    def __getattr__(self, name):
        ops = self.__dict__.get("ops", {})
        if name in ops:
            return ops[name]
        raise AttributeError("there is no op %s; there are %s%s" % (name, ", ".join(ops), meant(name, ops)))

    def __getitem__(self, path):
        if path in self.ops:
            return self.ops[path]
        raise KeyError("there is no op %s; there are %s" % (path, ", ".join(self.ops)))

    def __dir__(self):
        return [*super().__dir__(), *self.ops]

    def __repr__(self):
        return "<gnnc module for %s: %s>" % (self.target, ", ".join(self.ops))


def compile(text_or_path, *, target=None, ops=None, schedule=None, include=(), options=(), **defines):
    """Compiles a .gnn text, or the file of a path that ends in .gnn, to a Module of its ops.

    target: "host", or a GPU's architecture such as "sm_90a"; by default that of the GPU that PyTorch or CuPy use here, or the
    host. Calls on arrays of another device compile for that when they come.
    ops: paths of ops, such as "gat" and "gat.grad"; by default all that the text defines.
    schedule: the name of a schedule of the text. include: folders of imports. options: words for gnnc.
    Other arguments bind sizes and generics: F=64, T="f16".
    Raises CompileError, whose `diagnostics` hold code, place and help of each.
    """
    spelled = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16"}   # by PyTorch and NumPy
    for n, v in defines.items():
        word = getattr(v, "__name__", None) or str(v)
        defines[n] = spelled.get(word.split(".")[-1], v)
    source = Source(text_or_path, defines, ops, schedule, include, options)
    return Module(source, target or _native.default_target())
