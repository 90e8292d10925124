"""Products of rows by the matrix of their type, in Triton: tiles of rows from a table, none of which crosses a type."""
import torch
import triton
import triton.language as tl


@triton.jit
def rows_by_matrix(begins, ends, types, x, w, y, K: tl.constexpr, Q: tl.constexpr, BACK: tl.constexpr, ROWS: tl.constexpr,
                   BQ: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    """y[e, q] = sum over k of x[e, k] w[type, k, q]; BACK: of w[type, q, k]."""
    tile, q = tl.program_id(0), tl.program_id(1) * BQ + tl.arange(0, BQ)
    e = tl.load(begins + tile) + tl.arange(0, ROWS)
    there = e < tl.load(ends + tile)
    matrix = w + tl.load(types + tile).to(tl.int64) * K * Q
    acc = tl.zeros((ROWS, BQ), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        a = tl.load(x + e.to(tl.int64)[:, None] * K + k[None, :], there[:, None] & (k < K)[None, :], 0.0)
        at = q[None, :] * K + k[:, None] if BACK else k[:, None] * Q + q[None, :]
        b = tl.load(matrix + at, (k < K)[:, None] & (q < Q)[None, :], 0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    tl.store(y + e.to(tl.int64)[:, None] * Q + q[None, :], acc.to(y.dtype.element_ty), there[:, None] & (q < Q)[None, :])


@triton.jit
def outer_products(begins, ends, types, x, g, w, K: tl.constexpr, Q: tl.constexpr, ROWS: tl.constexpr, BK: tl.constexpr,
                   BQ: tl.constexpr, PRECISION: tl.constexpr):
    """w[type, k, q] += sum over rows of a part of x[e, k] g[e, q], atomically, in f32."""
    part, k, q = tl.program_id(0), tl.program_id(1) * BK + tl.arange(0, BK), tl.program_id(2) * BQ + tl.arange(0, BQ)
    begin, end = tl.load(begins + part), tl.load(ends + part)
    acc = tl.zeros((BK, BQ), tl.float32)
    for first in range(begin, end, ROWS):
        e = first + tl.arange(0, ROWS)
        a = tl.load(x + e.to(tl.int64)[None, :] * K + k[:, None], (e < end)[None, :] & (k < K)[:, None], 0.0)
        b = tl.load(g + e.to(tl.int64)[:, None] * Q + q[None, :], (e < end)[:, None] & (q < Q)[None, :], 0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
    at = w + tl.load(types + part).to(tl.int64) * K * Q + k[:, None] * Q + q[None, :]
    tl.atomic_add(at, acc, (k < K)[:, None] & (q < Q)[None, :], sem="relaxed")


def table(ptr, rows, device):
    """Begin, end and type of each tile of so many rows."""
    tiles = [(b, min(b + rows, end), t) for t, (begin, end) in enumerate(zip(ptr[:-1], ptr[1:])) for b in range(begin, end, rows)]
    return [torch.tensor(column, dtype=torch.int32, device=device) for column in zip(*tiles)]


def power(n):
    return max(16, triton.next_power_of_2(n))


def variants(what, ptr, x, g, w, K, Q):
    """Calls of several configurations; each gives its result."""
    precision = "tf32" if x.dtype == torch.float32 else "ieee"
    device = x.device
    if what == "dw":
        out = torch.empty_like(w, dtype=torch.float32)
        for rows in (1024, 4096):
            b, e, t = table(ptr, rows, device)
            for step, warps, stages in ((32, 4, 4), (64, 4, 3), (32, 8, 4)):
                bk, bq = min(power(K), 128), min(power(Q), 128)
                grid = (len(b), triton.cdiv(K, bk), triton.cdiv(Q, bq))

                def call(b=b, e=e, t=t, step=step, warps=warps, stages=stages, grid=grid, bk=bk, bq=bq):
                    out.zero_()
                    outer_products[grid](b, e, t, x, g, out, K, Q, step, bk, bq, precision, num_warps=warps, num_stages=stages)
                    return out
                yield call
        return
    back = what == "dx"
    depth, columns, a = (Q, K, g) if back else (K, Q, x)
    out = torch.empty(len(a), columns, dtype=a.dtype, device=device)
    for rows, warps, stages in ((64, 4, 2), (64, 4, 4), (128, 4, 2), (128, 8, 3), (128, 4, 3)):
        b, e, t = table(ptr, rows, device)
        for bk in {min(power(depth), n) for n in (32, 64, 128)}:
            bq = min(power(columns), 128)
            grid = (len(b), triton.cdiv(columns, bq))

            def call(b=b, e=e, t=t, rows=rows, warps=warps, stages=stages, grid=grid, bk=bk, bq=bq):
                rows_by_matrix[grid](b, e, t, a, w, out, depth, columns, back, rows, bq, bk, precision, num_warps=warps, num_stages=stages)
                return out
            yield call
