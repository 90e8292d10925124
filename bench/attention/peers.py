"""What others offer for attention, forward, and forward and backward: PyTorch's ops, compiled or not, PyTorch
Geometric's layers after their projections, JAX, dense masks for batches of small graphs (SDPA, FlexAttention),
and kernels of ours in Triton.

A peer is a function that, given a problem, prepares what an application would prepare once a graph, and returns
a call that gives y, or y and the gradients."""

import os
from collections import namedtuple

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("XLA_PYTHON_CLIENT_MEM_FRACTION", "0.4")  # it keeps what it once had
import torch

import measure  # of the memory-bound family
import ops
from measure import Skip, reason_of

Peer = namedtuple("Peer", "name ops passes dense make variants")
PEERS = []
ROW_OPS = ("gt", "gat", "gatv2")
BOTH = ("forward", "both")


def peer(name, of=tuple(ops.OPS), passes=BOTH, dense=False, variants=(None,)):
    def register(make):
        PEERS.append(Peer(name, of, passes, dense, make, variants))
        return make

    return register


def peers_of(case, which, batch):
    """Dense masks are for batches of graphs alone."""
    return [p for p in PEERS if case.op in p.ops and which in p.passes and (batch or not p.dense)]


class Problem:
    """One case on one graph: index arrays as int32, inputs and the gradient of y in [-1, 1]. batch: graphs and
    nodes of each, or None."""

    def __init__(self, case, rowptr, col, batch, device):
        self.case, self.rowptr, self.col, self.batch, self.device = case, rowptr, col, batch, device
        self.nodes, self.edges, self.dtype = len(rowptr) - 1, len(col), measure.DTYPES[case.dtype]
        self.seeded = torch.Generator(device).manual_seed(1)
        n, H, D = self.nodes, case.H, case.D
        shapes = {"n": (n, H, D), "h": (n, H), "e": (self.edges, H, D), "w": (H, D), "1": ()}
        self.inputs = {name: self.random(*shapes[kind]) for name, kind in ops.OPS[case.op].inputs.items()}
        self.dy, self.references = self.random(n, H, D), {}
        self.leaves = [self.inputs[name] for name in ops.OPS[case.op].grads]

    def random(self, *shape):
        return (torch.rand(shape, generator=self.seeded, device=self.device) * 2 - 1).to(self.dtype)

    @property
    def degree(self):
        return (self.rowptr[1:] - self.rowptr[:-1]).long()

    @property
    def row(self):
        return torch.repeat_interleave(torch.arange(self.nodes, device=self.device), self.degree)


# ---- The ops, in arrays of PyTorch or JAX ----------------------------------------------------------------


def leaky(lib, z):
    return lib.where(
        z > 0, z, 0.2 * z
    )  # of what is stored in 16 bits sums are 0 now and then: 0.2 is the slope there


def scores_of(lib, op, t, row, col, edges=None):
    """Of each edge and head. edges: which of them row and col are, where not all."""
    if op == "gt":
        return (t["q"][row] * t["k"][col]).sum(-1) * t["q"].shape[-1] ** -0.5
    if op == "gat":
        return leaky(lib, t["l"][row] + t["r"][col])
    if op == "agnn":
        x = t["x"]
        c = (x * x).sum(-1).clip(1e-24) ** -0.5
        return t["beta"] * (c[row] * c[col] * (x[row] * x[col]).sum(-1))
    z = t["l"][col] + t["r"][row]
    if op == "gatv2_edges":
        z = z + (t["g"] if edges is None else t["g"][edges])
    return (t["att"] * leaky(lib, z)).sum(-1)


def values_of(op, t):
    return t["l" if op.startswith("gatv2") else "x"]


def attend(op, t, row, col, n):
    """PyTorch: a softmax by scatters, then a sum."""
    s, x = scores_of(torch, op, t, row, col), values_of(op, t)
    at = row[:, None].expand_as(s)
    top = s.new_zeros(n, s.shape[1]).scatter_reduce(0, at, s.detach(), "amax", include_self=False)
    e = (s - top[row]).exp()
    a = e / e.new_zeros(n, e.shape[1]).index_add(0, row, e)[row]
    y = x.new_zeros(n, x.shape[1] * x.shape[2]).index_add(0, row, (a[:, :, None] * x[col]).flatten(1))
    return y.view(n, *x.shape[1:])


def call_of(p, forward, both, leaves=None, dy=None):
    """Of a function of PyTorch that autograd can differentiate."""
    leaves = p.leaves if leaves is None else leaves
    for leaf in leaves:
        leaf.requires_grad_(both)
    if not both:
        return forward

    def call():
        y = forward()
        return y, torch.autograd.grad(y, leaves, p.dy if dy is None else dy)

    return call


# ---- PyTorch ---------------------------------------------------------------------------------------------


@peer("torch ops")
def torch_ops(p, both, _):
    row, col = p.row, p.col.long()
    return call_of(p, lambda: attend(p.case.op, p.inputs, row, col, p.nodes), both)


COMPILED = {}


def compiled(function, dynamic):
    if function not in COMPILED:
        torch._dynamo.config.recompile_limit = 256
        COMPILED[function] = torch.compile(function, dynamic=dynamic)
    return COMPILED[function]


def attend_forward(*of):  # what is compiled without gradients must not be taken with them: two functions
    return attend(*of)


def attend_both(*of):
    return attend(*of)


@peer("torch.compile")
def torch_compiled(p, both, _):
    row, col, function = p.row, p.col.long(), compiled(attend_both if both else attend_forward, True)
    return call_of(p, lambda: function(p.case.op, p.inputs, row, col, p.nodes), both)


# ---- Dense masks -----------------------------------------------------------------------------------------


def dense_mask(p):
    count, size = p.batch
    mask = torch.zeros(count, size, size, dtype=torch.bool, device=p.device)
    row, col = p.row, p.col.long()
    mask[row // size, row % size, col % size] = True
    return mask


def by_graph(p, pad=0):
    """Rows of nodes as [graphs, heads, nodes, features]: what an application with dense batches would hold."""
    count, size = p.batch

    def layout(t):
        t = t.detach().view(count, size, *t.shape[1:]).transpose(1, 2)
        return torch.nn.functional.pad(t, (0, 0, 0, pad)).contiguous()

    return [layout(p.inputs[name]) for name in "qkx"], layout(p.dy)


def by_node(p, t):
    """Back again, to be checked; of rows without edges a library may make NaN."""
    return t[:, :, : p.batch[1]].transpose(1, 2).reshape(p.nodes, p.case.H, p.case.D).nan_to_num(0.0)


class Dense:
    """A call whose results lie by graph."""

    def __init__(self, p, call):
        self.p, self.call = p, call

    def __call__(self):
        return self.call()

    def view(self, result):
        if isinstance(result, tuple):
            return by_node(self.p, result[0]), [by_node(self.p, g) for g in result[1]]
        return by_node(self.p, result)


@peer("sdpa, dense mask", ("gt",), dense=True)
def sdpa(p, both, _):
    mask, (leaves, dy) = dense_mask(p)[:, None], by_graph(p)
    return Dense(
        p,
        call_of(
            p,
            lambda: torch.nn.functional.scaled_dot_product_attention(*leaves, attn_mask=mask),
            both,
            leaves,
            dy,
        ),
    )


@peer("flex attention, dense mask", ("gt",), dense=True)
def flex(p, both, _):
    if p.device != "cuda":
        raise Skip("no GPU")
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    (count, size), pad = p.batch, -p.batch[1] % 128
    mask = torch.nn.functional.pad(dense_mask(p), (0, pad, 0, pad))
    leaves, dy = by_graph(p, pad)
    block = create_block_mask(
        lambda b, h, i, j: mask[b, i, j], count, None, size + pad, size + pad, device=p.device
    )
    function = compiled(flex_attention, False)
    return Dense(p, call_of(p, lambda: function(*leaves, block_mask=block), both, leaves, dy))


# ---- PyTorch Geometric -----------------------------------------------------------------------------------


@peer("pyg", ("gt", "gat", "gatv2", "agnn"))
def pyg(p, both, _):
    """What a layer does after its projections."""
    from torch_geometric import nn

    t, H, D = p.inputs, p.case.H, p.case.D
    ends = torch.stack([p.col.long(), p.row])
    if p.case.op == "gt":
        layer = nn.TransformerConv(H * D, D, H, root_weight=False, bias=False).to(p.device)
        return call_of(
            p, lambda: layer.propagate(ends, query=t["q"], key=t["k"], value=t["x"], edge_attr=None), both
        )
    if p.case.op == "agnn":
        layer, x = nn.AGNNConv(add_self_loops=False).to(p.device), t["x"].detach()[:, 0]
        layer.beta = torch.nn.Parameter(t["beta"].detach().to(p.dtype).view(1))
        y = call_of(
            p,
            lambda: layer.propagate(ends, x=x, x_norm=torch.nn.functional.normalize(x, dim=-1)),
            both,
            [layer.beta, x],
            p.dy[:, 0],
        )
        return Layered(y)
    kind = nn.GATConv if p.case.op == "gat" else nn.GATv2Conv
    layer = kind(H * D, D, H, add_self_loops=False, bias=False).to(p.device)
    if p.case.op == "gat":

        def forward():
            a = layer.edge_updater(ends, alpha=(t["r"], t["l"]), edge_attr=None)
            return layer.propagate(ends, x=(t["x"], t["x"]), alpha=a)

        return call_of(p, forward, both)
    layer.att = torch.nn.Parameter(t["att"].detach()[None])

    def forward():
        sides = t["l"], t["r"]
        return layer.propagate(ends, x=sides, alpha=layer.edge_updater(ends, x=sides, edge_attr=None))

    return call_of(p, forward, both, [t["l"], t["r"], layer.att])


class Layered:
    """A call without an axis of heads."""

    def __init__(self, call):
        self.call = call

    def __call__(self):
        return self.call()

    def view(self, result):
        return (
            (result[0][:, None], [result[1][0], result[1][1][:, None]])
            if isinstance(result, tuple)
            else result[:, None]
        )


# ---- Triton ----------------------------------------------------------------------------------------------


@peer("triton rows", ROW_OPS, variants=(0, 1, 2))
def triton_rows(p, both, variant):
    import row_kernels

    return row_kernels.call_of(p, both, variant)


# ---- JAX: the last, as it keeps the memory it once had ---------------------------------------------------


class JaxCall:
    """A jitted function on arrays that share memory with PyTorch's."""

    def __init__(self, function, tensors):
        import jax

        if tensors[0].is_cuda:
            torch.cuda.synchronize()
        self.args = [jax.dlpack.from_dlpack(t.detach()) for t in tensors]
        self.function = jax.jit(function).lower(*self.args).compile()

    def __call__(self):
        return self.function(*self.args)

    def beyond_bytes(self):
        """What it holds beside its arguments."""
        m = self.function.memory_analysis()
        return m.temp_size_in_bytes + m.output_size_in_bytes

    @staticmethod
    def wait(result):
        import jax

        return jax.block_until_ready(result)

    @staticmethod
    def view(result):
        if isinstance(result, (tuple, list)):
            return torch.from_dlpack(result[0]), [torch.from_dlpack(g) for g in result[1]]
        return torch.from_dlpack(result)

    @classmethod
    def dispatch_ms(cls, clock):
        """What a call takes that does nothing, now, as it changes in a process: not a peer's work."""
        import jax

        nothing, x = jax.jit(lambda x: x + 1), jax.numpy.zeros(8)
        return sorted(clock.wall(lambda: nothing(x), cls.wait) for _ in range(21))[10]


@peer("jax segment ops")
def jax_segment(p, both, _):
    import jax

    names, grads, op, n = list(p.inputs), ops.OPS[p.case.op].grads, p.case.op, p.nodes

    def sum_of(m, row):
        return jax.ops.segment_sum(m, row, n, indices_are_sorted=True)

    def forward(t, row, col):
        s = scores_of(jax.numpy, op, t, row, col)
        top = jax.lax.stop_gradient(jax.ops.segment_max(s, row, n, indices_are_sorted=True))
        e = jax.numpy.exp(s - top[row])
        return sum_of((e / sum_of(e, row)[row])[:, :, None] * values_of(op, t)[col], row)

    def function(dy, row, col, *inputs):
        t = dict(zip(names, inputs))
        if not both:
            return forward(t, row, col)
        y, back = jax.vjp(lambda *of: forward({**t, **dict(zip(grads, of))}, row, col), *(t[g] for g in grads))
        return y, back(dy)

    return JaxCall(function, [p.dy, p.row.int(), p.col, *p.inputs.values()])


# ---- Check: f64 on rows, and on sources all of whose rows are there --------------------------------------

MOST_EDGES = 400_000


def edges_of(ptr, rows):
    """Their edges, and which of the rows each belongs to."""
    n = (ptr[rows + 1] - ptr[rows]).long()
    at = torch.repeat_interleave(torch.arange(len(rows), device=ptr.device), n)
    first = ptr[rows].long() - (n.cumsum(0) - n)
    return at, first[at] + torch.arange(len(at), device=ptr.device)


def evenly(indices, count):
    return indices[
        torch.linspace(0, len(indices) - 1, min(count, len(indices)), dtype=torch.float64)
        .long()
        .to(indices.device)
    ]


def sampled_sources(p, most):
    """Sources whose targets' rows have so many edges, and all those rows with their own."""
    order = p.col.long().argsort(stable=True)
    ptr = torch.cat([p.rowptr.new_zeros(1), torch.bincount(p.col.long(), minlength=p.nodes).cumsum(0).int()])
    sources, rows, row = [], p.rowptr.new_zeros(0).long(), p.row
    for u in evenly((ptr[1:] > ptr[:-1]).nonzero()[:, 0], 64).tolist():
        more = torch.cat([rows, row[order[ptr[u] : ptr[u + 1]]], torch.tensor([u], device=p.device)]).unique()
        if int(p.degree[more].sum()) <= most:
            sources, rows = sources + [u], more
    return torch.tensor(sources, dtype=torch.long, device=p.device), rows


def sampled_rows(p, most):
    """Those with edges, the longest among them, as far as they have so many edges."""
    rows = evenly((p.degree > 0).nonzero()[:, 0], 128)
    rows = torch.cat([p.degree.argmax().view(1), rows]).unique()
    short = rows[p.degree[rows].argsort()]
    return short[p.degree[short].cumsum(0) <= most]


def reference(p, both):
    """(rows, y there, sum of absolute terms, {input: (where its gradient is known, the gradient there)}). The
    gradient of what all edges share is known only where the sample has all edges."""
    most = MOST_EDGES * 128 // max(p.case.H * p.case.D, 1)
    rows, sources = sampled_rows(p, most), None
    if both:
        sources, more = sampled_sources(p, most)
        rows = torch.cat([rows, more]).unique()
    at, e = edges_of(p.rowptr, rows)
    t = {name: x.detach().double().requires_grad_(both) for name, x in p.inputs.items()}
    row, col, op = rows[at], p.col[e].long(), p.case.op
    s, x = scores_of(torch, op, t, row, col, e), values_of(op, t)

    def sum_of(m):
        return m.new_zeros(len(rows), *m.shape[1:]).index_add(0, at, m)

    top = s.new_full((len(rows), s.shape[1]), -torch.inf)
    a = (s - top.scatter_reduce(0, at[:, None].expand_as(s), s.detach(), "amax")[at]).exp()
    a = a / sum_of(a)[at]
    y, scale = sum_of(a[:, :, None] * x[col]), sum_of(a.detach()[:, :, None] * x.detach()[col].abs())
    if not both:
        return rows, y, scale, {}
    ends = {"q": rows, "k": sources, "x": sources, "g": e}
    ends.update({"l": rows, "r": sources} if op == "gat" else {"l": sources, "r": rows})
    names, whole = ops.OPS[op].grads, slice(None) if len(e) == p.edges else None
    grads = torch.autograd.grad((y * p.dy[rows].double()).sum(), [t[name] for name in names])
    known = {name: ends.get(name, whole) for name in names}
    wants = {
        name: (where, g[where].clone())
        for (name, where), g in zip(known.items(), grads)
        if where is not None
    }
    return rows, y.detach(), scale, wants


def errors_of(p, result):
    """{tensor: difference from f64}: of y the largest, over the sum of absolute terms; of a gradient its norm,
    over the gradient's, as an edge whose leaky ReLU was on the other side of 0 in 16 bits has another one
    altogether."""
    y, got = result if isinstance(result, tuple) else (result, ())
    both = bool(got)
    if both not in p.references:
        p.references[both] = reference(p, both)
    rows, want, scale, wants = p.references[both]
    errors = {"y": largest((y.detach()[rows].double() - want).abs() / scale.clamp_min(1e-30))}
    for name, g in zip(ops.OPS[p.case.op].grads, got):
        g = g.double().view_as(p.inputs[name])
        if name in wants:
            where, want = wants[name]
            errors["d" + name] = largest((g[where] - want).norm() / want.norm().clamp_min(1e-30))
        else:
            errors["d" + name] = 0.0 if bool(g.isfinite().all()) else float("inf")
    return errors


def largest(ratio):
    return float("inf") if bool(ratio.isnan().any()) else float(ratio.max()) if ratio.numel() else 0.0


# ---- Measuring -------------------------------------------------------------------------------------------


def best_variant(clock, peer_, p, both):
    """The quickest; where all fail, the first one's reason."""
    if len(peer_.variants) == 1:
        return peer_.variants[0]
    times, reason = {}, None
    for variant in peer_.variants:
        try:
            call = peer_.make(p, both, variant)
            call()
            times[variant] = min(clock.wall(call) for _ in range(5)) if not clock.cuda else clock.hot(call)
        except ImportError:
            raise
        except Exception as fault:
            reason = reason or fault
    if not times:
        raise reason
    return min(times, key=times.get)


def measured(clock, peer_, p, both):
    variant = best_variant(clock, peer_, p, both)
    call = peer_.make(p, both, variant)
    errors = errors_of(
        p, getattr(call, "view", lambda r: r)(call())
    )  # this has loaded and compiled what there is
    wait = getattr(call, "wait", None)
    cold = clock.cold(call, wait, call.dispatch_ms(clock) if wait else 0.0)
    error = max(errors.values())
    row = dict(cold_ms=cold, error=error, verdict=measure.verdict(p.case.dtype, error), variant=variant)
    if row["verdict"] == "WRONG":
        row["reason"] = ", ".join("%s %.1e" % each for each in errors.items())
    if wait:
        row["beyond_bytes"] = call.beyond_bytes()
    elif clock.cuda:
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        result = call()
        clock.sync()
        row["beyond_bytes"] = torch.cuda.max_memory_allocated() - before
        del result
    return row


def row_of(clock, peer_, p, which):
    return measure.row_of(clock, lambda: measured(clock, peer_, p, which == "both"))
