"""Whether the formulas say what the ops say: results of gnnc and of PyTorch in f64, with gradients, on a small graph."""
import tempfile
from types import SimpleNamespace

import numpy as np

import inputs
import ours


def tensors_of(T, case, dtype, device="cpu"):
    """(g, values): what forward takes."""
    put = lambda a: T.as_tensor(a, device=device)  # noqa: E731
    g = SimpleNamespace(**{p: put(m.astype(np.int64)) for p, m in {**case.maps, **case.also}.items()}, **case.size)
    return g, {p: put(a) for p, a in case.tensors(dtype).items()}


def outputs(T, case, g, values):
    y = case.module.forward(g, T, **values)
    return y if isinstance(y, tuple) else (y,)


def difference(got, want):
    """Over the size of what is compared, where that is finite; infinities must agree."""
    if got.shape != want.shape:
        return "shapes %s and %s" % (got.shape, want.shape)
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return "%d infinite elements differ" % int((got[~finite] != want[~finite]).sum())
    scale = max(np.abs(want[finite]).max(initial=0), 1e-30)
    return float(np.abs(got[finite] - want[finite]).max(initial=0) / scale)


def compared(o, name, graph, least=1e-9):
    """What differs of an op: a list, empty where all agrees."""
    import torch as T
    case = inputs.Case(name, graph)
    g, values = tensors_of(T, case, "f64")
    for p in case.wrt:
        values[p].requires_grad_(True)
    y = outputs(T, case, g, values)
    names = ours.results(name)
    if len(names) != len(y):
        return ["%d results, %d in the formula" % (len(names), len(y))]
    draws = inputs.rng_of(name, "dy")
    dy = {r: draws.uniform(-1, 1, tuple(v.shape)) for r, v in zip(names, y)}
    want = T.autograd.grad(y, [values[p] for p in case.wrt], [T.as_tensor(dy[r]) for r in names], allow_unused=True)
    want = {**{r: v.detach() for r, v in zip(names, y)}, **{"d" + p: v for p, v in zip(case.wrt, want)}}
    with tempfile.TemporaryDirectory() as folder:
        got, fault = ours.computed(o, case, folder, "f64", dy)
    if fault:
        return [fault]
    faults = []
    for r, v in want.items():
        if v is None or r not in got:
            faults.append("%s is missing" % r)
            continue
        d = difference(got[r], v.numpy())
        if isinstance(d, str) or not d <= least:
            faults.append("%s differs by %s" % (r, d))
    return faults
