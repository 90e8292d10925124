"""What others offer for the same: cuSPARSE, PyTorch, PyTorch Geometric, JAX, and kernels of ours in Triton.

A peer is a function that, given a problem, prepares what an application would prepare once a graph, and returns a call."""
import os
import warnings
from collections import namedtuple

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import torch

import measure
from measure import Skip, reason_of

warnings.filterwarnings("ignore", message=".*[Ss]parse.*")   # that sparse tensors are beta, once a call
Peer = namedtuple("Peer", "name kinds reduces make variants")
PEERS = []
REDUCTIONS = ("segment", "spmm")
PAIRS = ("dot", "add", "l2")


def peer(name, kinds, reduces=None, variants=("",)):
    def register(make):
        PEERS.append(Peer(name, kinds, reduces, make, variants))
        return make
    return register


def peers_of(case):
    op = measure.OPS[case.op]
    return [p for p in PEERS if op.kind in p.kinds and (p.reduces is None or op.reduce in p.reduces)]


# ---- Shared --------------------------------------------------------------------------------------------------

def room_for(p, copies):
    """Refuses what would not fit: copies of a row an edge."""
    free = torch.cuda.mem_get_info()[0] if p.device == "cuda" else 1 << 32
    if copies * p.rows_bytes() > free:
        raise Skip("%.0f GiB for rows of edges do not fit" % (copies * p.rows_bytes() / 2 ** 30))


def messages_of(p):
    """What is reduced, a row an edge: stored by segment ops, gathered by the others at each call."""
    if p.op.kind == "segment":
        return lambda: p.x
    room_for(p, 3)
    col = p.col.long()
    return (lambda: p.x[col] * p.w[:, None]) if p.op.weighted else lambda: p.x[col]


def weights_of(p):
    if p.op.weighted:
        return p.w
    if p.op.reduce == "mean":
        return (1 / p.degree.clamp_min(1))[p.row.long()].to(p.dtype)
    return torch.ones(p.edges, dtype=p.dtype, device=p.device)


def columns_of(p):
    """Of the sparse matrix whose product with x is the result; x has a row an edge in segment ops."""
    return p.col if p.op.kind == "spmm" else torch.arange(p.edges, dtype=torch.int32, device=p.device)


def pairs_of(p):
    """The two ends of each edge combined, in arrays of any library."""
    H = p.case.H

    def combine(z, x):
        if p.op.kind == "add":
            return z + x
        if p.op.kind == "l2":
            return ((z - x) ** 2).sum(1) ** 0.5
        return (z * x).reshape(-1, H, z.shape[1] // H).sum(2)
    return combine


# ---- cuSPARSE ------------------------------------------------------------------------------------------------

def need_gpu(p):
    if p.device != "cuda":
        raise Skip("no GPU")


@peer("cusparse spmm", REDUCTIONS, ("sum", "mean"), ("csr1", "csr2", "csr3", "default"))
def cusparse_spmm(p, algorithm):
    need_gpu(p)
    import cusparse
    return cusparse.spmm(p.rowptr, columns_of(p), weights_of(p), p.x, algorithm)


@peer("cusparse sddmm", ("dot",))
def cusparse_sddmm(p, _):
    need_gpu(p)
    import cusparse
    if p.case.H > 1:
        raise Skip("one head alone")
    return cusparse.sddmm(p.rowptr, p.col, p.z, p.x)


# ---- PyTorch -------------------------------------------------------------------------------------------------

@peer("torch sparse.mm", REDUCTIONS, ("sum", "mean"))
def torch_sparse(p, _):
    a = torch.sparse_csr_tensor(p.rowptr, columns_of(p), weights_of(p), (p.nodes, len(p.x)))
    return lambda: torch.sparse.mm(a, p.x)


@peer("torch index_add", REDUCTIONS, ("sum",))
def torch_index_add(p, _):
    messages, row = messages_of(p), p.row.long()
    y = torch.empty(p.nodes, p.case.F, dtype=p.dtype, device=p.device)
    return lambda: y.zero_().index_add_(0, row, messages())


@peer("torch scatter_reduce", REDUCTIONS)
def torch_scatter(p, _):
    messages, row = messages_of(p), p.row.long()[:, None].expand(-1, p.case.F)
    y = torch.empty(p.nodes, p.case.F, dtype=p.dtype, device=p.device)
    how = {"max": "amax", "min": "amin"}.get(p.op.reduce, p.op.reduce)
    return lambda: y.zero_().scatter_reduce_(0, row, messages(), how, include_self=False)


@peer("torch segment_reduce", REDUCTIONS)
def torch_segment(p, _):
    messages, offsets = messages_of(p), p.rowptr.long()
    return lambda: torch.segment_reduce(messages(), p.op.reduce, offsets=offsets, axis=0)


@peer("torch gather", PAIRS)
def torch_pairs(p, _):
    room_for(p, 4)
    row, col, combine = p.row.long(), p.col.long(), pairs_of(p)
    return lambda: combine(p.z[row], p.x[col])


@peer("torch sampled_addmm", ("dot",))
def torch_sampled(p, _):
    if p.case.H > 1:
        raise Skip("one head alone")
    a = torch.sparse_csr_tensor(p.rowptr, p.col, torch.zeros(p.edges, dtype=p.dtype, device=p.device), (p.nodes, p.nodes))
    return lambda: torch.sparse.sampled_addmm(a, p.z, p.x.t(), beta=0.0).values()


@peer("torch softmax by scatter", ("softmax",))
def torch_softmax(p, _):
    row = p.row.long()
    wide = row[:, None].expand(-1, p.case.H)
    y = torch.empty(p.nodes, p.case.H, dtype=p.dtype, device=p.device)

    def call():
        top = y.zero_().scatter_reduce_(0, wide, p.x, "amax", include_self=False)[row]
        e = (p.x - top).exp_()
        return e / y.zero_().index_add_(0, row, e)[row]
    return call


# ---- PyTorch Geometric ---------------------------------------------------------------------------------------

@peer("pyg scatter", REDUCTIONS)
def pyg_scatter(p, _):
    from torch_geometric.utils import scatter
    messages, row = messages_of(p), p.row.long()
    return lambda: scatter(messages(), row, 0, p.nodes, p.op.reduce)


@peer("pyg segment", REDUCTIONS)
def pyg_segment(p, _):
    from torch_geometric.utils import segment
    messages, offsets = messages_of(p), p.rowptr.long()
    return lambda: segment(messages(), offsets, p.op.reduce)


@peer("pyg spmm", ("spmm",))
def pyg_spmm(p, _):
    from torch_geometric.utils import spmm
    values = p.w if p.op.weighted else torch.ones(p.edges, dtype=p.dtype, device=p.device)
    a = torch.sparse_csr_tensor(p.rowptr, p.col, values, (p.nodes, p.nodes))
    return lambda: spmm(a, p.x, p.op.reduce)


@peer("pyg softmax", ("softmax",), None, ("index", "ptr"))
def pyg_softmax(p, variant):
    from torch_geometric.utils import softmax
    how = dict(ptr=p.rowptr.long()) if variant == "ptr" else dict(index=p.row.long(), num_nodes=p.nodes)
    return lambda: softmax(p.x, **how)


# ---- JAX -----------------------------------------------------------------------------------------------------

class JaxCall:
    """A jitted function on arrays that share memory with PyTorch's."""

    def __init__(self, function, *tensors):
        import jax
        if tensors[0].is_cuda:
            torch.cuda.synchronize()
        self.function = jax.jit(function)
        self.args = [jax.dlpack.from_dlpack(t) for t in tensors]

    def __call__(self):
        return self.function(*self.args)

    @staticmethod
    def wait(result):
        return result.block_until_ready()

    @classmethod
    def dispatch_ms(cls, clock):
        """What a call takes that does nothing, now, as it changes in a process: not a peer's work."""
        import jax

        nothing, x = jax.jit(lambda x: x + 1), jax.numpy.zeros(8)
        return sorted(clock.wall(lambda: nothing(x), cls.wait) for _ in range(21))[10]


@peer("jax segment", REDUCTIONS)
def jax_segment(p, _):
    import jax
    how, n = p.op.reduce, p.nodes
    reduce = getattr(jax.ops, "segment_" + ("sum" if how == "mean" else how))
    if p.op.kind == "spmm":
        room_for(p, 2)

    def function(x, w, col, row, degree):
        m = x if p.op.kind == "segment" else x[col]
        m = m * w[:, None] if p.op.weighted else m
        y = reduce(m, row, n, indices_are_sorted=True)
        return y / degree[:, None] if how == "mean" else y
    return JaxCall(function, p.x, p.w if p.op.weighted else p.x[:1], p.col, p.row, p.degree.clamp_min(1).to(p.dtype))


@peer("jax gather", PAIRS)
def jax_pairs(p, _):
    room_for(p, 2)
    combine = pairs_of(p)
    return JaxCall(lambda z, x, row, col: combine(z[row], x[col]), p.z, p.x, p.row, p.col)


@peer("jax softmax", ("softmax",))
def jax_softmax(p, _):
    import jax
    n = p.nodes

    def function(s, row):
        top = jax.ops.segment_max(s, row, n, indices_are_sorted=True)
        e = jax.numpy.exp(s - top[row])
        return e / jax.ops.segment_sum(e, row, n, indices_are_sorted=True)[row]
    return JaxCall(function, p.x, p.row)


# ---- Triton --------------------------------------------------------------------------------------------------

def triton_peer(name, kinds, calls):
    def make(p, variant):
        import kernels
        made = getattr(kernels, calls)(p)
        if variant >= len(made):
            raise Skip("no such configuration")
        return made[variant]
    peer(name, kinds, None, (0, 1, 2, 3))(make)


triton_peer("triton rows", REDUCTIONS, "row_calls")
triton_peer("triton edges", PAIRS, "edge_calls")
triton_peer("triton softmax", ("softmax",), "softmax_calls")


# ---- Measuring -----------------------------------------------------------------------------------------------

def as_tensor(result):
    return result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)


def best_variant(clock, peer_, p):
    """The quickest; where all fail, the last one's reason."""
    if len(peer_.variants) == 1:
        return peer_.variants[0]
    times, reason = {}, None
    for variant in peer_.variants:
        try:
            call = peer_.make(p, variant)
            call()
            times[variant] = clock.hot(call)
        except Exception as fault:
            reason = reason or fault
    if not times:
        raise reason
    return min(times, key=times.get)


def measured(clock, peer_, p):
    variant = best_variant(clock, peer_, p)
    call = peer_.make(p, variant)
    error = measure.error_of(p, as_tensor(call()))   # this has loaded and compiled what there is
    prepare = min(clock.wall(lambda: peer_.make(p, variant)) for _ in range(2))
    wait = getattr(call, "wait", None)
    cold, hot = clock.times(call, wait, call.dispatch_ms(clock) if wait else 0.0)
    return dict(cold_ms=cold, hot_ms=hot, prepare_ms=prepare, error=error, verdict=measure.verdict(p.case.dtype, error), variant=variant)


def row_of(clock, peer_, p):
    return measure.row_of(clock, lambda: measured(clock, peer_, p))
