"""Arrays of other packages: where their elements lie, and new ones like them. Nothing is copied.

Known are NumPy arrays, PyTorch tensors, CuPy and JAX arrays, and whatever has DLPack's `__dlpack__` on the host.
"""
import sys
import weakref

from . import _native

_NUMPY = {"float64": 0, "float32": 1, "bfloat16": 2, "float16": 3, "int32": 4, "int64": 5, "bool": 6}


_fixed = {}   # by id: NumPy arrays that the package made, and that nobody can change


def fixed(a):
    """A copy of a NumPy array that stays as it is, so that plans of it are kept."""
    a = a.copy()
    a.flags.writeable = False
    _fixed[id(a)] = weakref.ref(a, lambda _, key=id(a): _fixed.pop(key, None))
    return a


def _is_fixed(a):
    made = _fixed.get(id(a))
    return made is not None and made() is a


class Array:
    """What a launch needs of an array: pointer, gnn_dtype, shape, strides in elements, device, and what keeps it alive.

    `version` changes when its elements do, where the package counts that; None: nobody knows.
    """
    __slots__ = ("pointer", "dtype", "shape", "strides", "device", "owner", "version", "read_only")

    def __init__(self, pointer, dtype, shape, strides, device, owner, version=None, read_only=False):
        self.pointer, self.dtype, self.shape, self.strides = pointer, dtype, tuple(shape), tuple(strides)
        self.device, self.owner, self.version, self.read_only = device, owner, version, read_only

    def is_packed(self):
        step = 1
        for n, s in zip(reversed(self.shape), reversed(self.strides)):
            if n > 1 and s != step:
                return False
            step *= n
        return True


def _dtype(name, what):
    if name not in _NUMPY:
        raise TypeError("%s has elements of %s; they may be of %s" % (what, name, ", ".join(_NUMPY)))
    return _NUMPY[name]


def _of_torch(t, what):
    device = _native.HOST if t.device.type == "cpu" else t.device.index + 1
    if t.device.type not in ("cpu", "cuda"):
        raise TypeError("%s lies on %s; it may lie on cpu or cuda" % (what, t.device))
    if t.is_neg() or t.is_conj():
        raise TypeError("%s is a view whose elements have another sign: .resolve_neg() writes them out" % what)
    if t.layout is not sys.modules["torch"].strided:
        raise TypeError("%s is %s, and has to be dense" % (what, t.layout))
    version = None if t.is_inference() else t._version
    return Array(t.data_ptr(), _dtype(str(t.dtype)[6:], what), t.shape, t.stride(), device, t, version)


def _steps(strides, shape, bytes_, what):
    if strides is None:
        made, step = [], 1
        for n in reversed(shape):
            made.append(step)
            step *= n
        return made[::-1]
    if any(s % bytes_ for s, n in zip(strides, shape) if n > 1):
        raise TypeError("%s has strides that are no multiples of its elements" % what)
    return [s // bytes_ if n > 1 else 1 for s, n in zip(strides, shape)]


def _of_interface(a, i, device, what):
    kinds = {"f8": "float64", "f4": "float32", "f2": "float16", "i4": "int32", "i8": "int64", "b1": "bool"}
    name = "bfloat16" if str(getattr(a, "dtype", "")) == "bfloat16" else kinds.get(
        i["typestr"][1:], str(getattr(a, "dtype", i["typestr"])))
    if i["typestr"][0] == (">" if sys.byteorder == "little" else "<"):
        raise TypeError("%s has its bytes in another order than this machine" % what)
    dtype = _dtype(name, what)
    bytes_ = (8, 4, 2, 2, 4, 8, 1)[dtype]
    pointer = i["data"][0] if i["shape"] and 0 not in i["shape"] or not i["shape"] else 0
    return Array(pointer, dtype, i["shape"], _steps(i.get("strides"), i["shape"], bytes_, what), device, a,
                 0 if _is_fixed(a) else None, i["data"][1])


def of(a, what="an array"):
    """The Array of something that has elements, or None: it is a number."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(a, torch.Tensor):
        return _of_torch(a, what)
    i = getattr(a, "__cuda_array_interface__", None)
    if i is not None:
        device = getattr(getattr(a, "device", None), "id", 0)   # CuPy's; JAX has one device a process
        return _of_interface(a, i, device + 1, what)
    i = getattr(a, "__array_interface__", None)
    if i is not None and type(a).__module__.split(".")[0] != "jaxlib":
        return _of_interface(a, i, _native.HOST, what)
    if hasattr(a, "__dlpack__"):
        import numpy
        made = numpy.from_dlpack(a)
        return _of_interface(made, made.__array_interface__, _native.HOST, what)
    return None


def empty(like, shape, dtype):
    """A new packed array of the package and on the device of another one."""
    name = ("float64", "float32", "bfloat16", "float16", "int32", "int64", "bool")[dtype]
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(like, torch.Tensor):
        return torch.empty(shape, dtype=getattr(torch, name), device=like.device)
    module = type(like).__module__.split(".")[0]
    if module == "cupy":
        return sys.modules["cupy"].empty(shape, dtype=name)
    import numpy
    if name == "bfloat16":
        import ml_dtypes
        return numpy.empty(shape, dtype=ml_dtypes.bfloat16)
    return numpy.empty(shape, dtype=name)


def memory(like, bytes_):
    """(pointer, owner) of workspace on the device of an array, aligned to 256 bytes; by its package's allocator."""
    if not bytes_:
        return None, None
    owner = empty(like, (bytes_ + 255,), _NUMPY["bool"])
    pointer = of(owner).pointer
    return (pointer + 255) // 256 * 256, owner


def stream(like):
    """The stream that the package of an array works on; None: the default one, or the host."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(like, torch.Tensor):
        return torch.cuda.current_stream(like.device).cuda_stream if like.is_cuda else None
    if type(like).__module__.split(".")[0] == "cupy":
        return sys.modules["cupy"].cuda.get_current_stream().ptr
    return None


def tensor_of(a):
    """The gnn_tensor of an Array."""
    rank = len(a.shape)
    t = _native.Tensor(data=a.pointer, dtype=a.dtype, rank=rank, has_strides=not a.is_packed())
    t.shape[:rank] = a.shape
    t.strides[:rank] = a.strides
    return t

