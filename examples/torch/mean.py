#!/usr/bin/env python3
"""An op compiled by gnnc in a PyTorch process: its tensors, its stream, captured in a CUDA graph, and compared with index_add.
Usage: mean.py LIBRARY. Exit status 77: PyTorch is not installed."""
import ctypes
import sys
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p

HOST, F32, MAX_RANK = -1, 1, 8   # GNN_HOST, GNN_F32, GNN_MAX_RANK of gnnrt.h


class ContextOptions(Structure):
    _fields_ = [("device", c_int), ("threads", c_uint32), ("allocator", c_void_p * 3), ("parallel_for", c_void_p),
                ("parallel_user", c_void_p), ("simulator", c_void_p)]


class Map(Structure):
    _fields_ = [("index", c_void_p), ("offsets", c_void_p), ("width", c_uint32), ("on_device", c_bool), ("domain", c_int64),
                ("codomain", c_int64)]


class Tensor(Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int), ("rank", c_uint32), ("has_strides", c_bool), ("shape", c_int64 * MAX_RANK),
                ("strides", c_int64 * MAX_RANK)]


class Args(Structure):   # struct neighbour_mean_f32_args of mean.h
    _fields_ = [(name, c_int64) for name in "EUVF"] + [("src", Map), ("dst", Map), ("x", Tensor), ("y", Tensor)]


class Library:
    """The calls of the header, and those of gnnrt.h that it needs."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.context = c_void_p()
        self.c.gnn_context_error.restype = c_char_p

    def must(self, status):
        if status:
            raise RuntimeError("status %d: %s" % (status, self.c.gnn_context_error(self.context).decode()))

    def open(self, device):
        self.must(self.c.gnn_context_new(byref(ContextOptions(device=device)), byref(self.context)))
        op = c_void_p()
        self.must(self.c.neighbour_mean_f32_load(self.context, byref(op)))
        return op

    def plan(self, op, args):
        plan, size = c_void_p(), c_size_t()
        self.must(self.c.neighbour_mean_f32_plan(op, byref(args), None, byref(plan)))
        self.must(self.c.neighbour_mean_f32_workspace(plan, byref(args), byref(size)))
        return plan, size.value

    def launch(self, plan, args, workspace, size, stream):
        self.must(self.c.neighbour_mean_f32_launch(plan, byref(args), c_void_p(workspace), c_size_t(size), c_void_p(stream)))


def index(t, offsets=False):
    place = {"offsets" if offsets else "index": t.data_ptr()}
    return Map(width=t.element_size() * 8, on_device=t.is_cuda, **place)


def tensor(t):
    return Tensor(data=t.data_ptr(), dtype=F32, rank=t.dim(), has_strides=True, shape=(c_int64 * MAX_RANK)(*t.shape),
                  strides=(c_int64 * MAX_RANK)(*t.stride()))


def main(path):
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed")
        return 77
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    torch.manual_seed(0)
    nodes, edges, features = 1000, 20000, 32
    src = torch.randint(nodes, (edges,), device=device)
    dst = torch.randint(nodes, (edges,), device=device).sort().values
    x = torch.randn(nodes, features, device=device)
    y = torch.full((nodes, features), float("nan"), device=device)

    library = Library(path)
    op = library.open(torch.cuda.current_device() if cuda else HOST)
    args = Args(E=edges, U=nodes, V=nodes, F=features, src=index(src), dst=index(dst), x=tensor(x), y=tensor(y))
    if cuda:
        torch.cuda.synchronize()   # the plan reads src and dst on the default stream
    plan, size = library.plan(op, args)
    workspace = torch.empty(max(size, 1), dtype=torch.uint8, device=device)
    if cuda:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            library.launch(plan, args, workspace.data_ptr(), size, torch.cuda.current_stream().cuda_stream)
        x.copy_(torch.randn_like(x))   # the replay reads what is there now
        graph.replay()
        torch.cuda.synchronize()
    else:
        # The host's workspace is aligned to 256 bytes, which PyTorch's CPU memory need not be.
        workspace = torch.empty(size + 256, dtype=torch.uint8)
        aligned = (workspace.data_ptr() + 255) // 256 * 256
        library.launch(plan, args, aligned, size, None)

    total = torch.zeros_like(y).index_add_(0, dst, x[src])
    degree = torch.zeros(nodes, device=device).index_add_(0, dst, torch.ones(edges, device=device))
    expected = total / degree.clamp(min=1)[:, None]
    worst = (y - expected).abs().max().item()
    right = worst < 1e-5
    print("%s: largest difference from index_add %.1e: %s" % (device, worst, "right" if right else "WRONG"))
    library.c.gnn_plan_free(plan)
    library.c.gnn_op_free(op)
    library.c.gnn_context_free(library.context)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
