"""Attention in Triton, a program a row with all its heads: maxima and sums on the run forward; backward a
program a row of targets, then one a row of sources. What one would write without more ado; a few configurations
each."""

import torch
import triton
import triton.language as tl

OPS = {"gt": 0, "gat": 1, "gatv2": 2}
NONE = tl.constexpr(-1e30)
SLOPE = tl.constexpr(0.2)


@triton.jit
def leaky(z):
    return tl.where(z > 0, z, SLOPE * z)


@triton.jit
def rows_forward(
    ptr,
    col,
    a,
    b,
    x,
    att,
    y,
    lse,
    scale,
    OP: tl.constexpr,
    H: tl.constexpr,
    D: tl.constexpr,
    H2: tl.constexpr,
    D2: tl.constexpr,
    BE: tl.constexpr,
):
    """a: what a row has (q, l; of gatv2 r), b: what its sources have (k, r; of gatv2 l, which x is too)."""
    v = tl.program_id(0).to(tl.int64)
    h, d = tl.arange(0, H2), tl.arange(0, D2)
    hd, in_row = h[:, None] * D + d[None, :], (h < H)[:, None] & (d < D)[None, :]
    begin, end = tl.load(ptr + v), tl.load(ptr + v + 1)
    if OP == 1:
        mine = tl.load(a + v * H + h, h < H, 0).to(tl.float32)
    else:
        mine = tl.load(a + v * H * D + hd, in_row, 0).to(tl.float32)
    if OP == 2:
        weight = tl.load(att + hd, in_row, 0).to(tl.float32)
    top, total, acc = (
        tl.full((H2,), NONE, tl.float32),
        tl.zeros((H2,), tl.float32),
        tl.zeros((H2, D2), tl.float32),
    )
    for first in range(begin, end, BE):
        e = first + tl.arange(0, BE)
        there = e < end
        u = tl.load(col + e, there, 0).to(tl.int64)
        at, mask = u[:, None, None] * H * D + hd[None, :, :], there[:, None, None] & in_row[None, :, :]
        value = tl.load(x + at, mask, 0).to(tl.float32)
        if OP == 0:
            s = tl.sum(tl.load(b + at, mask, 0).to(tl.float32) * mine[None, :, :], 2) * scale
        elif OP == 1:
            theirs = tl.load(b + u[:, None] * H + h[None, :], there[:, None] & (h < H)[None, :], 0).to(
                tl.float32
            )
            s = leaky(mine[None, :] + theirs)
        else:
            s = tl.sum(leaky(value + mine[None, :, :]) * weight[None, :, :], 2)
        s = tl.where(there[:, None], s, NONE)
        above = tl.maximum(top, tl.max(s, 0))
        p, keep = tl.where(there[:, None], tl.exp(s - above[None, :]), 0.0), tl.exp(top - above)
        total = total * keep + tl.sum(p, 0)
        acc = acc * keep[:, None] + tl.sum(value * p[:, :, None], 0)
        top = above
    total = tl.where(total > 0, total, 1.0)
    tl.store(y + v * H * D + hd, (acc / total[:, None]).to(y.dtype.element_ty), in_row)
    tl.store(lse + v * H + h, top + tl.log(total), h < H)


@triton.jit
def rows_backward(
    ptr,
    col,
    a,
    b,
    x,
    att,
    y,
    lse,
    dy,
    da,
    delta,
    datt,
    scale,
    OP: tl.constexpr,
    H: tl.constexpr,
    D: tl.constexpr,
    H2: tl.constexpr,
    D2: tl.constexpr,
    BE: tl.constexpr,
):
    """The gradient of a, and what the sources' kernel needs: delta, the sum of y times dy. datt: a row's part
    of that of att."""
    v = tl.program_id(0).to(tl.int64)
    h, d = tl.arange(0, H2), tl.arange(0, D2)
    hd, in_row = h[:, None] * D + d[None, :], (h < H)[:, None] & (d < D)[None, :]
    begin, end = tl.load(ptr + v), tl.load(ptr + v + 1)
    g = tl.load(dy + v * H * D + hd, in_row, 0).to(tl.float32)
    drop = tl.sum(tl.load(y + v * H * D + hd, in_row, 0).to(tl.float32) * g, 1)
    tl.store(delta + v * H + h, drop, h < H)
    total = tl.load(lse + v * H + h, h < H, 0)
    if OP == 1:
        mine, acc = tl.load(a + v * H + h, h < H, 0).to(tl.float32), tl.zeros((H2,), tl.float32)
    else:
        mine, acc = tl.load(a + v * H * D + hd, in_row, 0).to(tl.float32), tl.zeros((H2, D2), tl.float32)
    if OP == 2:
        weight, of_att = tl.load(att + hd, in_row, 0).to(tl.float32), tl.zeros((H2, D2), tl.float32)
    for first in range(begin, end, BE):
        e = first + tl.arange(0, BE)
        there = e < end
        u = tl.load(col + e, there, 0).to(tl.int64)
        at, mask = u[:, None, None] * H * D + hd[None, :, :], there[:, None, None] & in_row[None, :, :]
        value = tl.load(x + at, mask, 0).to(tl.float32)
        if OP == 0:
            key = tl.load(b + at, mask, 0).to(tl.float32)
            s = tl.sum(key * mine[None, :, :], 2) * scale
        elif OP == 1:
            z = mine[None, :] + tl.load(
                b + u[:, None] * H + h[None, :], there[:, None] & (h < H)[None, :], 0
            ).to(tl.float32)
            s = leaky(z)
        else:
            z = value + mine[None, :, :]
            s = tl.sum(leaky(z) * weight[None, :, :], 2)
        p = tl.where(there[:, None] & (h < H)[None, :], tl.exp(s - total[None, :]), 0.0)
        ds = p * (tl.sum(value * g[None, :, :], 2) - drop[None, :])
        if OP == 0:
            acc += tl.sum(ds[:, :, None] * key, 0) * scale
        elif OP == 1:
            acc += tl.sum(tl.where(z > 0, ds, SLOPE * ds), 0)
        else:
            acc += tl.sum(ds[:, :, None] * tl.where(z > 0, 1.0, SLOPE), 0) * weight
            of_att += tl.sum(ds[:, :, None] * leaky(z), 0)
    if OP == 1:
        tl.store(da + v * H + h, acc.to(da.dtype.element_ty), h < H)
    else:
        tl.store(da + v * H * D + hd, acc.to(da.dtype.element_ty), in_row)
    if OP == 2:
        tl.store(datt + v * H * D + hd, of_att, in_row)


@triton.jit
def sources_backward(
    ptr,
    row,
    a,
    b,
    x,
    att,
    lse,
    dy,
    delta,
    db,
    dx,
    scale,
    OP: tl.constexpr,
    H: tl.constexpr,
    D: tl.constexpr,
    H2: tl.constexpr,
    D2: tl.constexpr,
    BE: tl.constexpr,
):
    u = tl.program_id(0).to(tl.int64)
    h, d = tl.arange(0, H2), tl.arange(0, D2)
    hd, in_row = h[:, None] * D + d[None, :], (h < H)[:, None] & (d < D)[None, :]
    begin, end = tl.load(ptr + u), tl.load(ptr + u + 1)
    value = tl.load(x + u * H * D + hd, in_row, 0).to(tl.float32)
    of_x = tl.zeros((H2, D2), tl.float32)
    if OP == 0:
        key, of_b = tl.load(b + u * H * D + hd, in_row, 0).to(tl.float32), tl.zeros((H2, D2), tl.float32)
    elif OP == 1:
        theirs, of_b = tl.load(b + u * H + h, h < H, 0).to(tl.float32), tl.zeros((H2,), tl.float32)
    else:
        weight = tl.load(att + hd, in_row, 0).to(tl.float32)
    for first in range(begin, end, BE):
        e = first + tl.arange(0, BE)
        there = e < end
        v = tl.load(row + e, there, 0).to(tl.int64)
        at, mask = v[:, None, None] * H * D + hd[None, :, :], there[:, None, None] & in_row[None, :, :]
        at_h, mask_h = v[:, None] * H + h[None, :], there[:, None] & (h < H)[None, :]
        g = tl.load(dy + at, mask, 0).to(tl.float32)
        if OP == 0:
            query = tl.load(a + at, mask, 0).to(tl.float32)
            s = tl.sum(query * key[None, :, :], 2) * scale
        elif OP == 1:
            z = tl.load(a + at_h, mask_h, 0).to(tl.float32) + theirs[None, :]
            s = leaky(z)
        else:
            z = tl.load(a + at, mask, 0).to(tl.float32) + value[None, :, :]
            s = tl.sum(leaky(z) * weight[None, :, :], 2)
        p = tl.where(mask_h, tl.exp(s - tl.load(lse + at_h, mask_h, 0)), 0.0)
        ds = p * (tl.sum(value[None, :, :] * g, 2) - tl.load(delta + at_h, mask_h, 0))
        of_x += tl.sum(p[:, :, None] * g, 0)
        if OP == 0:
            of_b += tl.sum(ds[:, :, None] * query, 0) * scale
        elif OP == 1:
            of_b += tl.sum(tl.where(z > 0, ds, SLOPE * ds), 0)
        else:
            of_x += tl.sum(ds[:, :, None] * tl.where(z > 0, 1.0, SLOPE), 0) * weight
    tl.store(dx + u * H * D + hd, of_x.to(dx.dtype.element_ty), in_row)
    if OP == 0:
        tl.store(db + u * H * D + hd, of_b.to(db.dtype.element_ty), in_row)
    elif OP == 1:
        tl.store(db + u * H + h, of_b.to(db.dtype.element_ty), h < H)


CONFIGURATIONS = ((1024, 1), (2048, 2), (4096, 4))  # numbers of a tile, warps


def transposed(p):
    """Offsets of the sources, and the row of each of their edges."""
    order = p.col.long().argsort(stable=True)
    ends = torch.bincount(p.col.long(), minlength=p.nodes).cumsum(0)
    return torch.cat([ends.new_zeros(1), ends]).int(), p.row[order].int()


def call_of(p, both, configuration):
    """A call that returns y, or y and the gradients in the order of the op's."""
    op, (numbers, warps), (H, D) = OPS[p.case.op], CONFIGURATIONS[configuration], (p.case.H, p.case.D)
    t = {k: v.detach() for k, v in p.inputs.items()}
    a, b, x = {"gt": ("q", "k", "x"), "gat": ("l", "r", "x"), "gatv2": ("r", "l", "l")}[p.case.op]
    a, b, x, att = t[a], t[b], t[x], t.get("att", p.dy)
    H2, D2 = triton.next_power_of_2(H), triton.next_power_of_2(D)
    sizes = dict(scale=D**-0.5, OP=op, H=H, D=D, H2=H2, D2=D2, BE=max(2, numbers // (H2 * D2)), num_warps=warps)
    grid, ptr = (p.nodes,), p.rowptr
    back = transposed(p) if both else None
    number = dict(dtype=torch.float32, device=p.device)

    def call():
        y, lse = torch.empty_like(p.dy), torch.empty(p.nodes, H, **number)
        rows_forward[grid](ptr, p.col, a, b, x, att, y, lse, **sizes)
        if not both:
            return y
        da, delta = torch.empty_like(a), torch.empty_like(lse)
        parts = torch.empty(p.nodes if op == 2 else 0, H, D, **number)
        rows_backward[grid](ptr, p.col, a, b, x, att, y, lse, p.dy, da, delta, parts, **sizes)
        dx, db = torch.empty_like(x), torch.empty_like(b if op < 2 else lse)
        sources_backward[grid](*back, a, b, x, att, lse, p.dy, delta, db, dx, **sizes)
        return y, ((da, db, dx) if op < 2 else (dx, da, parts.sum(0).to(att.dtype)))

    return call
