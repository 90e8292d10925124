"""cuSPARSE by its C interface: descriptors, workspace and preprocessing are made once, a call is one product."""
import ctypes
import glob
import os

import torch

TYPE = {torch.float32: 0, torch.float16: 2, torch.bfloat16: 14}   # cudaDataType
INT32, ZERO_BASED, COLUMNS, ROWS = 2, 0, 1, 2
PLAIN, TRANSPOSED, IN_F32 = 0, 1, 0
SPMM_ALGORITHMS = {"csr1": 4, "csr2": 6, "csr3": 12, "default": 0}


class Library:
    def __init__(self):
        near_torch = os.path.join(os.path.dirname(os.path.dirname(torch.__file__)), "nvidia", "*", "lib", "libcusparse.so.*")
        for name in ["libcusparse.so.12", *glob.glob(near_torch), "libcusparse.so"]:
            try:
                self.c = ctypes.CDLL(name)
                break
            except OSError:
                continue
        else:
            raise ImportError("libcusparse is not installed")
        self.c.cusparseGetErrorString.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self("cusparseCreate", ctypes.byref(self.handle))
        self("cusparseSetStream", self.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    def __call__(self, name, *args):
        status = getattr(self.c, name)(*args)
        if status:
            raise RuntimeError("%s: %s" % (name, self.c.cusparseGetErrorString(status).decode()))

    def new(self, name, *args):
        made = ctypes.c_void_p()
        self(name, ctypes.byref(made), *args)
        return made


_library = None


def library():
    global _library
    _library = _library or Library()
    return _library


def wide(n):
    return ctypes.c_int64(n)


def address(t):
    return ctypes.c_void_p(t.data_ptr())


class Product:
    """What SpMM and SDDMM share: the same eleven arguments, a workspace, a preprocessing."""

    def __init__(self, name, a, b, c, result, algorithm, transpose_b=False):
        self.lib, self.name, self.result = library(), name, result
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        self.args = [self.lib.handle, PLAIN, TRANSPOSED if transpose_b else PLAIN, ctypes.byref(one), a, b, ctypes.byref(zero), c,
                     IN_F32, algorithm]
        size = ctypes.c_size_t()
        self.lib(name + "_bufferSize", *self.args, ctypes.byref(size))
        self.buffer = torch.empty(max(size.value, 1), dtype=torch.uint8, device=result.device)
        self.args.append(address(self.buffer))
        self.lib(name + "_preprocess", *self.args)

    def __call__(self):
        stream = torch.cuda.current_stream() if self.result.is_cuda else None   # another one while a graph is captured
        self.lib("cusparseSetStream", self.lib.handle, ctypes.c_void_p(stream and stream.cuda_stream))
        self.lib(self.name, *self.args)
        return self.result


def sparse(rowptr, col, values, columns):
    return library().new("cusparseCreateCsr", wide(len(rowptr) - 1), wide(columns), wide(len(col)), address(rowptr), address(col),
                         address(values), INT32, INT32, ZERO_BASED, TYPE[values.dtype])


def dense(x):
    return library().new("cusparseCreateDnMat", wide(x.shape[0]), wide(x.shape[1]), wide(x.shape[1]), address(x), TYPE[x.dtype], ROWS)


def spmm(rowptr, col, values, x, algorithm):
    y = torch.empty(len(rowptr) - 1, x.shape[1], dtype=x.dtype, device=x.device)
    made = Product("cusparseSpMM", sparse(rowptr, col, values, len(x)), dense(x), dense(y), y, SPMM_ALGORITHMS[algorithm])
    made.keep = rowptr, col, values, x
    return made


def sddmm(rowptr, col, z, x):
    s = torch.zeros(len(col), dtype=x.dtype, device=x.device)
    made = Product("cusparseSDDMM", dense(z), dense(x), sparse(rowptr, col, s, len(x)), s, 0, transpose_b=True)
    made.keep = rowptr, col, z, x
    return made
