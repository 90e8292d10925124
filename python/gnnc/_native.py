"""libgnnrt by ctypes: the structures and calls of gnnrt.h that the package uses."""
import ctypes
import os
import threading
from ctypes import POINTER, Structure, Union, byref, c_bool, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_size_t, c_uint32, c_void_p, pointer

ABI = 5          # GNN_ABI of the header that this file mirrors
MAX_RANK = 8     # GNN_MAX_RANK
HOST = -1        # GNN_HOST; GNN_GPU(n) is n + 1
TRUSTED, SAVED = 1, 2   # flags of plans
DTYPES = ("f64", "f32", "bf16", "f16", "i32", "i64", "bool")   # gnn_dtype, by number
ROLES = ("map", "tensor", "scalar", "result")                  # gnn_role, by number


class Error(RuntimeError):
    """A call of the runtime failed. `status` is gnn_status's number; the text names array, position and value."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class ContextOptions(Structure):
    _fields_ = [("device", c_int), ("threads", c_uint32), ("allocator", c_void_p * 3), ("parallel_for", c_void_p),
                ("parallel_user", c_void_p), ("simulator", c_void_p)]


class Map(Structure):
    _fields_ = [("index", c_void_p), ("offsets", c_void_p), ("width", c_uint32), ("on_device", c_bool), ("domain", c_int64),
                ("codomain", c_int64)]


class NamedMap(Structure):
    _fields_ = [("name", c_char_p), ("map", Map)]


class Size(Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int), ("rank", c_uint32), ("has_strides", c_bool),
                ("shape", c_int64 * MAX_RANK), ("strides", c_int64 * MAX_RANK)]


class Scalar(Union):
    _fields_ = [("f64", c_double), ("f32", c_float), ("i64", c_int64), ("i32", c_int32)]


class Arg(Structure):
    _fields_ = [("tensor", POINTER(Tensor)), ("scalar", Scalar)]


class PlanOptions(Structure):
    _fields_ = [("sizes", POINTER(Size)), ("nsizes", c_size_t), ("maps", POINTER(NamedMap)), ("nmaps", c_size_t),
                ("args", POINTER(Arg)), ("nargs", c_size_t), ("flags", c_uint32), ("stream", c_void_p), ("cache", c_void_p),
                ("version", c_char_p)]


class ParamInfo(Structure):
    _fields_ = [("name", c_char_p), ("role", c_int), ("dtype", c_int)] + \
               [(fact, c_bool) for fact in ("is_index", "sorted", "unique", "partial", "prefix", "strided", "packed",
                                            "saved", "given", "unread")] + \
               [("rank", c_uint32), ("axes", POINTER(c_uint32)), ("into", c_int32), ("sorted_by", c_int32), ("inplace", c_int32),
                ("align", c_size_t), ("adjoint_of", c_char_p)]


class SpaceInfo(Structure):
    _fields_ = [("name", c_char_p), ("is_free", c_bool), ("size", c_char_p)]


class DeviceInfo(Structure):
    _fields_ = [("name", ctypes.c_char * 128), ("device", c_int), ("devices", c_int), ("driver_version", c_int), ("sm", c_int),
                ("sms", c_int), ("memory", c_int64), ("shared_bytes", c_int64), ("l2_bytes", c_int64), ("mhz", c_int)]


# name: result, arguments; c_int results that are statuses are checked by `must`
_CALLS = {
    "gnn_abi": (c_uint32, []),
    "gnn_status_text": (c_char_p, [c_int]),
    "gnn_context_new": (c_int, [POINTER(ContextOptions), POINTER(c_void_p)]),
    "gnn_context_free": (None, [c_void_p]),
    "gnn_context_error": (c_char_p, [c_void_p]),
    "gnn_context_clear_error": (None, [c_void_p]),
    "gnn_device_query": (c_int, [c_void_p, POINTER(DeviceInfo)]),
    "gnn_library_open": (c_int, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "gnn_library_read": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "gnn_library_close": (None, [c_void_p]),
    "gnn_library_ops": (c_uint32, [c_void_p]),
    "gnn_library_op": (c_void_p, [c_void_p, c_uint32]),
    "gnn_library_path": (c_char_p, [c_void_p, c_uint32]),
    "gnn_op_load": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "gnn_op_free": (None, [c_void_p]),
    "gnn_op_program": (c_void_p, [c_void_p, c_uint32, c_uint32]),
    "gnn_op_plan_named": (c_int, [c_void_p, POINTER(PlanOptions), c_uint32, POINTER(c_void_p)]),
    "gnn_plan_program": (c_void_p, [c_void_p]),
    "gnn_plan_free": (None, [c_void_p]),
    "gnn_ffi_free": (None, [c_void_p]),
    "gnn_ffi_new": (c_int, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "gnn_cache_new": (c_int, [c_void_p, POINTER(c_void_p)]),
    "gnn_cache_free": (None, [c_void_p]),
    "gnn_plan_workspace": (c_size_t, [c_void_p]),
    "gnn_plan_shape": (c_int, [c_void_p, c_uint32, POINTER(Tensor)]),
    "gnn_plan_version": (c_int, [c_void_p, POINTER(Arg), c_size_t, POINTER(c_char_p)]),
    "gnn_plan_prepared_bytes": (c_size_t, [c_void_p]),
    "gnn_launch": (c_int, [c_void_p, POINTER(Arg), c_size_t, c_void_p, c_size_t, c_void_p]),
    "gnn_program_name": (c_char_p, [c_void_p]),
    "gnn_program_gradient_of": (c_char_p, [c_void_p]),
    "gnn_program_index_bits": (c_uint32, [c_void_p]),
    "gnn_program_params": (c_uint32, [c_void_p]),
    "gnn_program_param": (c_int, [c_void_p, c_uint32, POINTER(ParamInfo)]),
    "gnn_program_spaces": (c_uint32, [c_void_p]),
    "gnn_program_space": (c_int, [c_void_p, c_uint32, POINTER(SpaceInfo)]),
    "gnn_program_version": (c_char_p, [c_void_p, c_uint32]),
    "gnn_program_versions": (c_uint32, [c_void_p]),
}
_library = None


def _found():
    """libgnnrt: that of $GNNC_RUNTIME, of the package, of a build beside the package, or of the system."""
    here = os.path.dirname(os.path.abspath(__file__))
    for path in (os.environ.get("GNNC_RUNTIME"), os.path.join(here, "lib", "libgnnrt.so"),
                 os.path.join(os.path.dirname(os.path.dirname(here)), "build", "libgnnrt.so")):
        if path and os.path.exists(path):
            return path
    return "libgnnrt.so.0"


def runtime():
    """The library, opened at the first call."""
    global _library
    if _library is None:
        library = ctypes.CDLL(_found())
        for name, (result, arguments) in _CALLS.items():
            call = getattr(library, name)
            call.restype, call.argtypes = result, arguments
        if library.gnn_abi() != ABI:
            raise ImportError("libgnnrt has interface %d, and this package is made for %d" % (library.gnn_abi(), ABI))
        _library = library
    return _library


class Context:
    """A device: this machine's cores, or a GPU by its ordinal."""
    _made = {}

    def __init__(self, device):
        self.pointer, self.device = c_void_p(), device
        self.lock = threading.RLock()   # calls of one context go one after another
        self.must(runtime().gnn_context_new(byref(ContextOptions(device=device)), byref(self.pointer)))

    @classmethod
    def of(cls, device):
        """That of HOST, or of GNN_GPU(ordinal): one a process."""
        if device not in cls._made:
            cls._made[device] = cls(device)
        return cls._made[device]

    def must(self, status):
        if status:
            library = runtime()
            text = library.gnn_context_error(self.pointer) or library.gnn_status_text(status)
            library.gnn_context_clear_error(self.pointer)
            raise Error(status, text.decode())

    def query(self):
        info = DeviceInfo()
        self.must(runtime().gnn_device_query(self.pointer, byref(info)))
        return info


def architecture(context):
    """The architecture to compile for on a context's GPU."""
    sm = context.query().sm
    return "sm_%d%s" % (sm, "a" if sm in (90, 100, 103, 120) else "")


def default_target():
    """The GPU's architecture where PyTorch or CuPy are loaded and see one, else the host."""
    import sys
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    seen = torch is not None and torch.cuda.is_available()
    if not seen and cupy is not None:
        try:
            seen = cupy.cuda.runtime.getDeviceCount() > 0
        except Exception:   # CuPy's own, where there is no driver
            seen = False
    return architecture(Context.of(1)) if seen else "host"
