"""Times, floors and the check of what peers compute. Needs PyTorch; runs on its CPU where there is no GPU, to be tested."""
import statistics
import time

import torch

from cases import OPS, row_bytes

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
# Error over the sum of absolute terms: up to here it is right; up to 32 times as much a sum in 16 bits may be.
RIGHT = {"f32": 2.0 ** -15, "f16": 2.0 ** -9, "bf16": 2.0 ** -6}
COARSE = 32


class Clock:
    """Medians of times in ms. A launch is behind a pause of the device, so that it was submitted whole before it begins: what
    Python takes to submit does not count unless the call itself waits."""

    def __init__(self, seconds=0.1):
        self.cuda = torch.cuda.is_available()
        self.device = "cuda" if self.cuda else "cpu"
        self.seconds = seconds
        l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20) if self.cuda else 1 << 20
        self.overwritten = torch.empty(2 * l2, dtype=torch.uint8, device=self.device)

    def sync(self):
        if self.cuda:
            torch.cuda.synchronize()

    def wall(self, call, wait=None):
        self.sync()
        start = time.perf_counter()
        result = call()
        (wait or (lambda _: self.sync()))(result)
        return (time.perf_counter() - start) * 1e3

    def submit_ms(self, call):
        self.sync()
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e3

    def _series(self, call, pause_ms):
        """Events around a call; to be read after a sync."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(int(min(pause_ms, 20) * 2e6))   # cycles at 2 GHz at most
        begin.record()
        call()
        end.record()
        return begin, end

    def _events(self, call, rounds, flush):
        pause, pairs = 1.5 * min(self.submit_ms(call) for _ in range(3)) + 0.02, []
        for _ in range(rounds):
            if flush:
                self.overwritten.fill_(1)
            pairs.append(self._series(call, pause))
        self.sync()
        return statistics.median(b.elapsed_time(e) for b, e in pairs)

    def _many(self, call, calls):
        """So many calls: as a graph, so that what a launch takes does not count, or one after another where the library lets nobody
        capture them."""
        def each():
            for _ in range(calls):
                call()
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                each()
            graph.replay()
            self.sync()
            return graph.replay
        except Exception:
            return each

    def hot(self, call):
        once = min(self.wall(call) for _ in range(3))
        calls = int(min(10, max(1, self.seconds * 500 / max(once, 1e-3))))
        if self.cuda:
            return self._events(self._many(call, calls), 5 if once < 100 else 2, False) / calls
        return self.wall(lambda: [call() for _ in range(calls)]) / calls

    def cold(self, call, wait=None, dispatch=0.0):
        """wait: for results of a library with streams of its own, timed by the wall, less what an empty call takes."""
        once = min(self.wall(call, wait) for _ in range(3))
        rounds = int(min(20, max(3, self.seconds * 1e3 / max(once, 1e-3))))
        if self.cuda and not wait:
            return self._events(call, rounds, True)
        cold = []
        for _ in range(rounds):
            self.overwritten.fill_(1)
            cold.append(self.wall(call, wait))
        return net_of(statistics.median(cold), dispatch)

    def times(self, call, wait=None, dispatch=0.0):
        """(cold, hot)"""
        cold = self.cold(call, wait, dispatch)
        if self.cuda and not wait:
            return cold, self.hot(call)
        once = min(self.wall(call, wait) for _ in range(3))
        calls = int(min(10, max(1, self.seconds * 500 / max(once, 1e-3))))

        def many():
            for _ in range(calls):
                last = call()
            return last
        return cold, statistics.median(self.wall(many, wait) / calls for _ in range(5))


def net_of(wall, dispatch):
    """What an empty call takes varies by more than a part of it: less than half of it beside it is no time."""
    if wall - dispatch < dispatch / 2:
        raise Skip("too short to tell from an empty call, which takes %.0f us" % (1e3 * dispatch))
    return wall - dispatch


# ---- Floors --------------------------------------------------------------------------------------------------

def fastest(clock, call, tries=9):
    """Other processes that use the device only slow it."""
    return min(clock.hot(call) for _ in range(tries))


def copy_bandwidth(clock):
    """Bytes read and written a second."""
    x = torch.empty((1 << 26) if clock.cuda else 1 << 22, dtype=torch.float32, device=clock.device)
    y = torch.empty_like(x).fill_(0)
    x.fill_(1)
    return 2 * x.numel() * 4 / (fastest(clock, lambda: y.copy_(x)) * 1e-3)


def empty_times(clock):
    """Of a kernel that waits for nothing, launched as peers are: what no time of theirs can be below."""
    return clock.times(lambda: torch.cuda._sleep(0) if clock.cuda else None)


def gather_rate(clock, case, nodes, kernels, rows=1 << 23):
    """Rows a second that are fetched at random from a table of so many, and not written: the best of a few kernels."""
    if not clock.cuda:
        rows = 1 << 10
    table = torch.ones(nodes, case.F, dtype=DTYPES[case.dtype], device=clock.device)
    index = torch.randint(nodes, (rows,), dtype=torch.int32, device=clock.device)
    best = min(fastest(clock, call, 5) for call in kernels.gather_calls(table, index))
    return rows / (best * 1e-3)


# ---- Inputs --------------------------------------------------------------------------------------------------

class Problem:
    """One case on one graph: index arrays as int32, tensors of [-1, 1]."""

    def __init__(self, case, rowptr, col, device):
        self.case, self.op = case, OPS[case.op]
        self.rowptr, self.col = rowptr, col
        self.nodes, self.edges = len(rowptr) - 1, len(col)
        self.dtype, self.device = DTYPES[case.dtype], device
        random = torch.Generator(device=device).manual_seed(1)

        def tensor(*shape):
            return torch.empty(shape, dtype=self.dtype, device=device).uniform_(-1, 1, generator=random)
        kind, F = self.op.kind, case.F
        if kind == "segment":
            self.x = tensor(self.edges, F)
        elif kind == "softmax":
            self.x = tensor(self.edges, case.H)
        else:
            self.x = tensor(self.nodes, F)   # at sources
            self.z = tensor(self.nodes, F) if kind != "spmm" else None   # at destinations
            self.w = tensor(self.edges) if self.op.weighted else None

    @property
    def row(self):
        """The destination of each edge: peers that need it make it, and it counts as their preparation."""
        return torch.repeat_interleave(torch.arange(self.nodes, dtype=torch.int32, device=self.device), self.degree)

    @property
    def degree(self):
        return (self.rowptr[1:] - self.rowptr[:-1]).long()

    def rows_bytes(self):
        """Of a row an edge, for peers that store what they gather."""
        return self.edges * max(row_bytes(self.case), 4 * self.case.H)


# ---- Check ---------------------------------------------------------------------------------------------------

def sampled_rows(p, count=128):
    """Rows with edges, the longest among them; their edges, and to which of the rows each belongs."""
    filled = p.degree.nonzero()[:, 0]
    rows = filled[torch.linspace(0, len(filled) - 1, min(count, len(filled)), device=p.device, dtype=torch.float64).long()]
    rows = torch.cat([rows, p.degree.argmax().view(1)]).unique()
    n = p.degree[rows]
    segment = torch.repeat_interleave(torch.arange(len(rows), device=p.device), n)
    first = p.rowptr[rows].long() - (n.cumsum(0) - n)
    return rows, segment, first[segment] + torch.arange(len(segment), device=p.device)


def reduced(terms, segment, count, how):
    shape = (count, terms.shape[1])
    at = segment[:, None].expand_as(terms)
    return torch.zeros(shape, dtype=torch.float64, device=terms.device).scatter_reduce(0, at, terms, how, include_self=False)


def reduction_error(p, out):
    rows, segment, e = sampled_rows(p)
    terms = (p.x[e] if p.op.kind == "segment" else p.x[p.col[e].long()]).double()
    if p.op.weighted:
        terms = terms * p.w[e].double()[:, None]
    how = {"max": "amax", "min": "amin"}.get(p.op.reduce, p.op.reduce)
    want = reduced(terms, segment, len(rows), how)
    scale = reduced(terms.abs(), segment, len(rows), how) if how in ("sum", "mean") else want.abs()
    return out[rows].double() - want, scale


def softmax_error(p, out):
    rows, segment, e = sampled_rows(p)
    s = p.x[e].double()
    top = reduced(s, segment, len(rows), "amax")
    want = (s - top[segment]).exp()
    want = want / reduced(want, segment, len(rows), "sum")[segment]
    return out[e].double() - want, want


def edge_error(p, out, count=4096):
    e = torch.linspace(0, p.edges - 1, min(count, p.edges), device=p.device, dtype=torch.float64).long()
    row = torch.searchsorted(p.rowptr.long(), e, right=True) - 1
    x, z = p.x[p.col[e].long()].double(), p.z[row].double()
    got = out[e].double()
    if p.op.kind == "add":
        return got - (x + z), x.abs() + z.abs()
    if p.op.kind == "l2":
        want = (z - x).square().sum(1).sqrt()
        return got - want, want + 1e-3   # near 0 the square root makes much of little
    terms = (x * z).view(len(e), p.case.H, -1)
    return got.view(len(e), -1) - terms.sum(2), terms.abs().sum(2)


def error_of(p, out):
    """Largest difference from f64 at a sample, over what was added up."""
    kind = p.op.kind
    difference, scale = (softmax_error if kind == "softmax" else reduction_error if kind in ("segment", "spmm") else edge_error)(p, out)
    ratio = difference.abs() / scale.clamp_min(1e-30)
    return float("inf") if bool(ratio.isnan().any()) else float(ratio.max())


def verdict(dtype, error):
    return "right" if error <= RIGHT[dtype] else "coarse" if dtype != "f32" and error <= COARSE * RIGHT[dtype] else "WRONG"


# ---- What became of a peer -----------------------------------------------------------------------------------
class Skip(Exception):
    pass


def reason_of(fault):
    text = " ".join(("%s: %s" % (type(fault).__name__, fault)).split())
    if "out of memory" in text.lower() or "RESOURCE_EXHAUSTED" in text:
        return "out of memory"
    return text[:200]


def row_of(clock, measured):
    if clock.cuda:
        torch.cuda.empty_cache()   # room_for asks what is free
    try:
        return measured()
    except Skip as why:
        row = dict(verdict="skipped", reason=str(why))
    except ImportError as missing:
        row = dict(verdict="skipped", reason="not installed: %s" % missing)
    except Exception as fault:   # a peer that fails is a result
        row = dict(verdict="failed", reason=reason_of(fault))
    try:
        clock.sync()
    except Exception:
        row["lost"] = True
    return row
