"""PyTorch's times of the formulas: eager and torch.compile, one process for all. Run by gallery.py."""
import json
import time

import torch

import compare
import inputs


class Clock:
    """Medians in ms of single calls, the L2 cache overwritten before each."""

    def __init__(self, seconds):
        import measure   # of bench/family
        self.clock = measure.Clock(seconds=seconds)
        self.device = self.clock.device
        self.sync = self.clock.sync

    def __call__(self, call):
        return self.clock.cold(call)


class Problem:
    """A case with tensors on the device; forward and both passes of a formula as calls without arguments."""

    def __init__(self, name, graph, dtype, device):
        self.case = inputs.Case(name, graph)
        self.g, self.values = compare.tensors_of(torch, self.case, dtype, device)
        self.leaves = [self.values[p] for p in self.case.wrt]
        self.formula = lambda values: compare.outputs(torch, self.case, self.g, values)
        with torch.no_grad():
            y = self.formula(self.values)
        draws = torch.Generator(device).manual_seed(1)
        self.dy = [torch.rand(v.shape, generator=draws, device=device).to(v.dtype) for v in y]

    def forward(self, f):
        return lambda: f(self.values)

    def both(self, f):
        def call():
            y = f(self.values)
            return y, torch.autograd.grad(y, self.leaves, self.dy, allow_unused=True)
        return call

    def need(self, gradient):
        for leaf in self.leaves:
            leaf.requires_grad_(gradient)

    def error(self, y):
        """Of the forward pass, over the largest element, from the formula in f64."""
        with torch.no_grad():
            want = self.formula({p: v.double() if v.is_floating_point() else v for p, v in self.values.items()})
        worst = 0.0
        for a, b in zip(y, want):
            ok = b.isfinite()
            top = float(b[ok].abs().max()) if bool(ok.any()) else 0
            worst = max(worst, float((a.double() - b)[ok].abs().max() / top) if top else 0.0)
        return worst


def figures(clock, problem, make):
    """What a formula takes, and how much of it is compiling. It is made anew for both passes: what was compiled without gradients has none."""
    found, start = {}, time.time()
    problem.need(False)
    f = make(problem)
    y = problem.forward(f)()
    clock.sync()
    found["compile_s"] = time.time() - start
    found["error"] = problem.error(y)
    found["forward"] = clock(problem.forward(f))
    start = time.time()
    torch._dynamo.reset()
    problem.need(True)
    f = make(problem)
    problem.both(f)()
    clock.sync()
    found["compile_s"] += time.time() - start
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    found["both"] = clock(problem.both(f))
    if torch.cuda.is_available():
        found["memory"] = torch.cuda.max_memory_allocated()
    return found


def reason_of(fault):
    text = " ".join(("%s: %s" % (type(fault).__name__, fault)).split())
    return "out of memory" if "out of memory" in text.lower() else text[:200]


def compiled(problem):
    torch._functorch.config.enable_autograd_cache = False   # it gives graphs without gradients where they are asked for
    return torch.compile(problem.formula, dynamic=False)


def eager(problem):
    return problem.formula


def warmed(problem):
    """Compiles, so that another process finds the code."""
    problem.need(False)
    problem.forward(compiled(problem))()
    torch._dynamo.reset()
    problem.need(True)
    problem.both(compiled(problem))()


def run(task, tell):
    """Cases are (op, graph, scale, dtype, peers); tell: what takes a row, None where it is for the compiler's cache alone."""
    clock, graph = Clock(task["seconds"]), None
    if task["memory"] and torch.cuda.is_available():
        room = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(min(task["memory"] * 2 ** 30 / room, 1.0))
    for name, which, by, dtype, kinds in task["cases"]:
        if graph is None or (graph.name, graph.by) != (which, by):
            graph = inputs.Graph(which, by)
        problem, why = None, None
        try:
            problem = Problem(name, graph, dtype, clock.device)
        except Exception as fault:   # one that fails is a result
            why = reason_of(fault)
        for kind in kinds:
            torch._dynamo.reset()
            row = dict(who=kind, op=name, graph=which, dtype=dtype, scale=by)
            try:
                if why:
                    row["fault"] = why
                elif tell is None:
                    warmed(problem)
                else:
                    row.update(figures(clock, problem, compiled if kind == "compile" else eager))
            except Exception as fault:
                row["fault"] = reason_of(fault)
            if tell:
                tell(row)
        problem = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def main():
    import sys
    task = json.load(sys.stdin)

    def tell(row):
        with open(task["out"], "a") as lines:
            lines.write(json.dumps(row) + "\n")
    run(task, tell if task["out"] else None)


if __name__ == "__main__":
    main()
