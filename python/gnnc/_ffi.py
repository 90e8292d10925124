"""Plans as functions of the TVM FFI."""
import ctypes
import functools
import itertools
from ctypes import byref, c_char_p, c_int32, c_size_t, c_void_p

import tvm_ffi
from tvm_ffi import libinfo

from . import _native

_numbers = itertools.count()


class _Api(ctypes.Structure):
    _fields_ = [("raise_", c_void_p), ("stream", c_void_p)]


class _Bytes(ctypes.Structure):   # a TVMFFIByteArray
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


@functools.lru_cache(maxsize=None)
def _library():
    library = ctypes.CDLL(libinfo.find_libtvm_ffi())
    library.TVMFFIFunctionCreate.argtypes = [c_void_p, c_void_p, c_void_p, ctypes.POINTER(c_void_p)]
    library.TVMFFIFunctionSetGlobal.argtypes = [ctypes.POINTER(_Bytes), c_void_p, c_int32]
    library.TVMFFIObjectDecRef.argtypes = [c_void_p]
    return library


def _address(library, name):
    return ctypes.cast(getattr(library, name), c_void_p).value


def function(plan):
    """The function of a plan; it keeps the plan."""
    library, runtime = _library(), _native.runtime()
    api = _Api(_address(library, "TVMFFIErrorSetRaisedFromCStr"), _address(library, "TVMFFIEnvGetStream"))
    made, handle = c_void_p(), c_void_p()
    with plan.context.lock:
        plan.context.must(runtime.gnn_ffi_new(plan.pointer, byref(api), byref(made)))
    plan.functions.append(made)   # which the plan frees: whatever of the TVM FFI goes at the end of the process, goes after plans
    if library.TVMFFIFunctionCreate(made, _address(runtime, "gnn_ffi_call"), None, byref(handle)):
        raise RuntimeError("the TVM FFI makes no function")
    name = ("gnnc.plan%d" % next(_numbers)).encode()
    library.TVMFFIFunctionSetGlobal(byref(_Bytes(name, len(name))), handle, 1)
    library.TVMFFIObjectDecRef(handle)
    found = functools.partial(tvm_ffi.get_global_func(name.decode()))
    tvm_ffi.registry.remove_global_func(name.decode())
    found.plan = plan
    return found
