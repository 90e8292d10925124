"""ctypes_call.py MEAN.PY LIBRARY SIZES: the example's ctypes side without PyTorch: its structs have the sizes of C's, which SIZES prints;
a small graph on the host."""
import ctypes
import importlib.util
import subprocess
import sys

spec = importlib.util.spec_from_file_location("mean", sys.argv[1])
mean = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mean)

sizes = [ctypes.sizeof(t) for t in (mean.ContextOptions, mean.Map, mean.Tensor, mean.Args)]
said = subprocess.run([sys.argv[3]], capture_output=True, text=True, check=True).stdout.split()
assert [str(n) for n in sizes] == said, (sizes, said)

src, rows = (ctypes.c_int64 * 3)(1, 2, 0), (ctypes.c_int64 * 4)(0, 2, 2, 3)
x, y = (ctypes.c_float * 6)(1, 2, 3, 4, 5, 6), (ctypes.c_float * 6)()


def tensor(values):
    return mean.Tensor(data=ctypes.addressof(values), dtype=mean.F32, rank=2, shape=(ctypes.c_int64 * 8)(3, 2))


library = mean.Library(sys.argv[2])
op = library.open(mean.HOST)
args = mean.Args(E=3, U=3, V=3, F=2, src=mean.Map(index=ctypes.addressof(src), width=64),
                 dst=mean.Map(offsets=ctypes.addressof(rows), width=64), x=tensor(x), y=tensor(y))
plan, size = library.plan(op, args)
memory = ctypes.create_string_buffer(size + 256)
library.launch(plan, args, (ctypes.addressof(memory) + 255) // 256 * 256, size, None)
assert list(y) == [4, 5, 0, 0, 1, 2], list(y)
src[1] = 5
try:
    library.plan(op, args)
    sys.exit("a map outside its space was taken")
except RuntimeError as e:
    assert str(e) == "status -12: src[1] = 5 is outside U (3)", e
