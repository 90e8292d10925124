"""Kernels in Triton, one for each kind of op: rows side by side, edges side by side. Each call has a few configurations."""
import torch
import triton
import triton.language as tl

REDUCES = {"sum": 0, "mean": 1, "max": 2, "min": 3}
MODES = {"dot": 0, "l2": 1, "add": 2}


@triton.jit
def reduce_rows(ptr, col, w, x, y, rows, F, GATHER: tl.constexpr, WEIGHTED: tl.constexpr, OP: tl.constexpr, NONE: tl.constexpr,
                R: tl.constexpr, BE: tl.constexpr, BF: tl.constexpr):
    v = tl.program_id(0) * R + tl.arange(0, R)
    f = tl.program_id(1) * BF + tl.arange(0, BF)
    begin, end = tl.load(ptr + v, v < rows, 0), tl.load(ptr + v + 1, v < rows, 0)
    y_at = v.to(tl.int64)[:, None] * F + f[None, :]
    acc = tl.full((R, BF), NONE, tl.float32)
    for k in range(0, tl.max(end - begin, 0), BE):
        e = begin[:, None] + k + tl.arange(0, BE)[None, :]
        there = e < end[:, None]
        at = e
        if GATHER:
            at = tl.load(col + e, there, 0)
        term = tl.load(x + at.to(tl.int64)[:, :, None] * F + f[None, None, :], there[:, :, None] & (f < F)[None, None, :], NONE)
        term = term.to(tl.float32)
        if WEIGHTED:
            term = term * tl.load(w + e, there, 0).to(tl.float32)[:, :, None]
        if OP < 2:
            acc += tl.sum(term, 1)
        elif OP == 2:
            acc = tl.maximum(acc, tl.max(term, 1))
        else:
            acc = tl.minimum(acc, tl.min(term, 1))
    if OP == 1:
        acc = acc / tl.maximum(end - begin, 1).to(tl.float32)[:, None]
    if OP > 1:
        acc = tl.where((end > begin)[:, None], acc, 0.0)
    tl.store(y + y_at, acc.to(y.dtype.element_ty), (v < rows)[:, None] & (f < F)[None, :])


@triton.jit
def pair_edges(row, col, z, x, s, edges, F, MODE: tl.constexpr, H: tl.constexpr, BE: tl.constexpr, BF: tl.constexpr):
    e = tl.program_id(0) * BE + tl.arange(0, BE)
    f, there = tl.arange(0, BF), e < edges
    mask = there[:, None] & (f < F)[None, :]
    a = tl.load(z + tl.load(row + e, there, 0).to(tl.int64)[:, None] * F + f[None, :], mask, 0).to(tl.float32)
    b = tl.load(x + tl.load(col + e, there, 0).to(tl.int64)[:, None] * F + f[None, :], mask, 0).to(tl.float32)
    if MODE == 2:
        tl.store(s + e.to(tl.int64)[:, None] * F + f[None, :], (a + b).to(s.dtype.element_ty), mask)
    elif MODE == 1:
        tl.store(s + e, tl.sqrt(tl.sum((a - b) * (a - b), 1)).to(s.dtype.element_ty), there)
    elif H == 1:
        tl.store(s + e, tl.sum(a * b, 1).to(s.dtype.element_ty), there)
    else:
        dots = tl.sum(tl.reshape(a * b, (BE, H, BF // H)), 2)
        tl.store(s + e.to(tl.int64)[:, None] * H + tl.arange(0, H)[None, :], dots.to(s.dtype.element_ty), there[:, None])


@triton.jit
def softmax_rows(ptr, s, a, rows, H: tl.constexpr, R: tl.constexpr, BE: tl.constexpr):
    v, h = tl.program_id(0) * R + tl.arange(0, R), tl.arange(0, H)
    begin, end = tl.load(ptr + v, v < rows, 0), tl.load(ptr + v + 1, v < rows, 0)
    longest = tl.max(end - begin, 0)
    top, total = tl.full((R, H), -1e30, tl.float32), tl.zeros((R, H), tl.float32)
    for k in range(0, longest, BE):   # online: Milakov and Gimelshein 2018
        e = begin[:, None] + k + tl.arange(0, BE)[None, :]
        there = (e < end[:, None])[:, :, None]
        x = tl.load(s + e.to(tl.int64)[:, :, None] * H + h[None, None, :], there, -1e30).to(tl.float32)
        above = tl.maximum(top, tl.max(x, 1))
        total = total * tl.exp(top - above) + tl.sum(tl.where(there, tl.exp(x - above[:, None, :]), 0.0), 1)
        top = above
    for k in range(0, longest, BE):
        e = begin[:, None] + k + tl.arange(0, BE)[None, :]
        there = (e < end[:, None])[:, :, None]
        at = e.to(tl.int64)[:, :, None] * H + h[None, None, :]
        x = tl.load(s + at, there, -1e30).to(tl.float32)
        tl.store(a + at, (tl.exp(x - top[:, None, :]) / total[:, None, :]).to(a.dtype.element_ty), there)


@triton.jit
def gather_rows(index, x, y, F, BE: tl.constexpr, BF: tl.constexpr):
    e, f = tl.program_id(0) * BE + tl.arange(0, BE), tl.arange(0, BF)
    at = tl.load(index + e).to(tl.int64)[:, None] * F + f[None, :]
    total = tl.sum(tl.load(x + at, (f < F)[None, :], 0).to(tl.float32), 0)
    tl.store(y + tl.program_id(0) * F + f, total.to(y.dtype.element_ty), f < F)


# ---- Calls: a list of functions without arguments, a configuration each, all giving the same -----------------------

def tiles(width):
    """(rows, edges) of a tile of some thousand numbers."""
    room = max(4096 // width, 1)
    return [(r, max(1, min(room // r, 64))) for r in (1, 4, 16, 64) if r <= room]


def row_calls(p):
    op, F, bf = REDUCES[p.op.reduce], p.case.F, min(triton.next_power_of_2(p.case.F), 128)
    y = torch.empty(p.nodes, F, dtype=p.dtype, device=p.device)
    gather, weighted = p.op.kind == "spmm", p.op.weighted
    none = {"max": -float("inf"), "min": float("inf")}.get(p.op.reduce, 0.0)

    def call(r, be):
        reduce_rows[(triton.cdiv(p.nodes, r), triton.cdiv(F, bf))](
            p.rowptr, p.col, p.w if weighted else p.x, p.x, y, p.nodes, F, gather, weighted, op, none, r, be, bf)
        return y
    return [lambda r=r, be=be: call(r, be) for r, be in tiles(bf)]


def edge_calls(p):
    kind, F, H, bf = p.op.kind, p.case.F, p.case.H, triton.next_power_of_2(p.case.F)
    width = F if kind == "add" else H
    s, row = torch.empty(p.edges, width, dtype=p.dtype, device=p.device), p.row

    def call(be):
        pair_edges[(triton.cdiv(p.edges, be),)](row, p.col, p.z, p.x, s, p.edges, F, MODES[kind], H, be, bf)
        return s if kind != "l2" else s[:, 0]
    return [lambda be=be: call(be) for be in (8, 16, 32, 64) if be * bf <= 8192]


def softmax_calls(p):
    a = torch.empty_like(p.x)

    def call(r, be):
        softmax_rows[(triton.cdiv(p.nodes, r),)](p.rowptr, p.x, a, p.nodes, p.case.H, r, be)
        return a
    return [lambda r=r, be=be: call(r, be) for r, be in tiles(p.case.H)]


def gather_calls(table, index):
    F, bf = table.shape[1], triton.next_power_of_2(table.shape[1])
    sizes = [be for be in (16, 64, 256) if 512 <= be * bf <= 16384] or [64]
    y = torch.empty(len(index) // min(sizes), F, dtype=table.dtype, device=table.device)

    def call(be):
        gather_rows[(len(index) // be,)](index, table, y, F, be, bf)
    return [lambda be=be: call(be) for be in sizes]
