"""Calls of a plan on PyTorch tensors that lie as those of the call before: only addresses are new.

Everything else was checked then: the arguments' structs are kept, and workspace, where the stream is the same.
"""
import torch

from . import _arrays, _native

_TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int64, torch.bool)


_workspaces = {}   # of a device and a stream: pointer, owner, bytes. Calls on one stream follow each other, and share it.


def _workspace(like, ordinal, stream, bytes_):
    """Memory for a launch. A graph that is captured has memory of its own."""
    if not bytes_:
        return None, None
    if stream and torch.cuda.is_current_stream_capturing():
        return _arrays.memory(like, bytes_)
    kept = _workspaces.get((ordinal, stream))
    if kept is None or kept[2] < bytes_:
        kept = _workspaces[ordinal, stream] = (*_arrays.memory(like, bytes_), bytes_)
    return kept


class Bound:
    """A plan with the arguments of a call. `tensors` and results are in the program's order."""

    def __init__(self, plan, tensors):
        params = plan.program.params
        self.plan, self.device = plan, tensors[0].device
        takes = [i for i, p in enumerate(params) if p.role == "tensor"]
        gives = [i for i, p in enumerate(params) if p.role == "result"]
        self.args = (_native.Arg * (len(params) + 1))()
        # of no memory to speak of, whatever their shapes: new ones are made like them
        self.results = [torch.empty([1] * len(shape), dtype=_TYPES[dtype], device=self.device).expand(shape)
                        for shape, dtype in (plan.shapes[params[i].name] for i in gives)]
        structs = {}
        for i, t in zip(takes, tensors):
            structs[i] = _arrays.tensor_of(_arrays.of(t, params[i].name))
        for i, y in zip(gives, self.results):
            structs[i] = _arrays.tensor_of(_arrays.of(torch.empty_like(y, memory_format=torch.contiguous_format)))
        for i, s in structs.items():
            self.args[i].tensor = _native.pointer(s)
        self.takes = [(structs[i], t.dtype, t.shape, t.stride()) for i, t in zip(takes, tensors)]
        self.gives = [structs[i] for i in gives]
        self.ordinal = tensors[0].get_device()
        self.numbers = [(self.args[i], p) for i, p in enumerate(params) if p.role == "scalar"]
        self.count = len(params)
        self.run = _native.runtime().gnn_launch

    def fits(self, tensors):
        """Whether they lie as those of the first call, addresses apart."""
        for t, (_, dtype, shape, strides) in zip(tensors, self.takes):
            if t.dtype is not dtype or t.shape != shape or t.stride() != strides or t.get_device() != self.ordinal:
                return False
        return True

    def __call__(self, tensors, numbers=()):
        stream = 0 if self.ordinal < 0 else torch._C._cuda_getCurrentRawStream(self.ordinal)
        out = [torch.empty_like(y, memory_format=torch.contiguous_format) for y in self.results]
        context = self.plan.context
        with context.lock:
            memory = _workspace(tensors[0], self.ordinal, stream, self.plan.workspace)
            for t, (s, *_) in zip(tensors, self.takes):
                s.data = t.data_ptr()
            for v, (arg, p) in zip(numbers, self.numbers):
                setattr(arg.scalar, p.field(), p.number(v))
            for t, s in zip(out, self.gives):
                s.data = t.data_ptr()
            status = self.run(self.plan.pointer, self.args, self.count, memory[0], self.plan.workspace, stream or None)
            if status:
                context.must(status)
        return out
