#!/usr/bin/env python3
"""Asks whether a small model, learned of times measured, orders schedules better than the cost model alone.

    bench/cost/points.py --record=record.jsonl --told=told.jsonl     # points that gnnc tune measured, as the model tells them
    bench/cost/fit.py told.jsonl [--seed=1] [--write=weights.txt]    # needs numpy
    bench/cost/fit.py told.jsonl --facts=facts.jsonl                 # and keeps what it asks of each point, which it reads as well

A point is an op, a graph and a schedule, with its time and what the cost model tells of its kernels. The time is guessed as the model's
times a product of powers: log(time / model) = w0 + sum of weights times what facts() gives, by ridge regression. Facts and times are
centred within an op and graph (a case) where a choice is judged, as a choice is made there alone.

Nothing is judged by what it was fitted on: by ops, all points of an op are left out; by graphs, those of a graph. The penalty is chosen by
leaving out one of the ops that are left. *Spearman* is the correlation of ranks within a case; *regret* what the schedule that is told to
be fastest takes beyond the one that is. The intervals are of 1,000 draws of cases."""
import argparse
import json
import math

import numpy as np

BOUNDS = ["issue", "units", "L1", "L2", "memory", "latency"]
NAMES = ["share of " + b for b in BOUNDS] + ["log2 of kernels", "log2 of blocks a round", "log2 of resident blocks",
                                             "log2 of longest over mean block", "log2 of L2 over memory bytes"]
SMS = 132
PENALTIES = [0.1, 1.0, 10.0, 100.0, 1e3, 1e4, 1e8]   # the last: no correction


def facts(point):
    """What is known of a point without measuring it: a name and a number each."""
    if "facts" in point:
        return dict(zip(NAMES, point["facts"]))
    kernels, told = point["kernels"], point["told"]
    longest = max(kernels, key=lambda k: k["ns"])
    resident = max(longest["resident"], 1)
    # of the model's time, which is nearly that of each kernel's longest bound
    out = [sum(k["by_ns"][b] for k in kernels) / told for b in BOUNDS]
    out.append(math.log2(sum(k["launches"] for k in kernels)))
    out.append(math.log2(longest["blocks"] / longest["launches"] / (SMS * resident)))
    out.append(math.log2(resident))
    out.append(math.log2(max(1.0, longest["longest_cycles"] / max(longest["block_cycles"], 1e-9))))
    out.append(math.log2((1 + longest["l2_bytes"]) / (1 + longest["memory_bytes"])))
    return dict(zip(NAMES, out))


def ranks(xs):
    order, out = np.argsort(xs, kind="stable"), np.empty(len(xs))
    out[order] = np.arange(len(xs))
    for v in np.unique(xs):
        out[xs == v] = out[xs == v].mean()
    return out


def spearman(x, y):
    a, b = ranks(x), ranks(y)
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / math.sqrt((a @ a) * (b @ b))) if (a @ a) * (b @ b) else 0.0


class Points:
    def __init__(self, rows):
        self.names = NAMES
        self.x = np.array([list(facts(r).values()) for r in rows])
        self.told = np.log([r["told"] for r in rows])
        self.y = np.log([r["measured"] for r in rows]) - self.told
        self.op = np.array([r["op"].split(".")[0] for r in rows])
        self.graph = np.array([r["graph"] for r in rows])
        self.case = np.array([r["op"] + " on " + r["graph"] for r in rows])

    def centred(self):
        """Without what points of a case have in common; a case weighs as much as another."""
        x, y, w = self.x.copy(), self.y.copy(), np.empty(len(self.y))
        for c in np.unique(self.case):
            i = self.case == c
            x[i] -= x[i].mean(0)
            y[i] -= y[i].mean()
            w[i] = 1 / math.sqrt(i.sum())
        return x, y, w


def ridge(x, y, w, penalty):
    scale = x.std(0) + 1e-9
    a, b = x / scale * w[:, None], y * w
    return np.linalg.solve(a.T @ a + penalty / 100 * np.eye(x.shape[1]), a.T @ b) / scale


def scores(told, measured, case):
    """By case: the correlation of ranks, and the regret of the choice."""
    out = {}
    for c in np.unique(case):
        i = np.flatnonzero(case == c)
        if len(i) > 3:
            out[c] = spearman(told[i], measured[i]), math.exp(measured[i][np.argmin(told[i])] - measured[i].min()) - 1
    return out


def regret(told, measured, case):
    return np.mean([r for _, r in scores(told, measured, case).values()])


def best_penalty(p, x, y, w, inside):
    """That of the least mean regret, each op of those inside left out in turn."""
    found = []
    for penalty in PENALTIES:
        guess = p.told.copy()
        for o in np.unique(p.op[inside]):
            fit, judge = inside & (p.op != o), inside & (p.op == o)
            guess[judge] += p.x[judge] @ ridge(x[fit], y[fit], w[fit], penalty)
        found.append((regret(guess[inside], (p.told + p.y)[inside], p.case[inside]), penalty))
    return min(found)[1]


def judged(p, folds):
    x, y, w = p.centred()
    guess = p.told.copy()
    for f in np.unique(folds):
        out = folds == f
        guess[out] += p.x[out] @ ridge(x[~out], y[~out], w[~out], best_penalty(p, x, y, w, ~out))
    return guess


def interval(values, rng):
    values = np.array(values)
    draws = [rng.choice(values, len(values)).mean() for _ in range(1000)]
    return np.percentile(draws, 2.5), np.percentile(draws, 97.5)


def tell(what, p, guess, rng):
    plain, fitted = scores(p.told, p.told + p.y, p.case), scores(guess, p.told + p.y, p.case)
    print("%s, %d cases" % (what, len(plain)))
    for name, s in ("model alone", plain), ("corrected", fitted):
        print("  %-12s Spearman %.3f in the mean, least %.2f; regret %.1f %% in the mean, most %.1f %%" % (
            name, np.mean([a for a, _ in s.values()]), min(a for a, _ in s.values()), 100 * np.mean([b for _, b in s.values()]),
            100 * max(b for _, b in s.values())))
    for k, unit, by in (0, "Spearman", 1), (1, "regret in %", 100):
        d = [by * (fitted[c][k] - plain[c][k]) for c in plain]
        print("  corrected less plain, %s: %.3f (%.3f to %.3f)" % ((unit, np.mean(d)) + interval(d, rng)))
    for c in plain:
        print("    %-32s %3d points  Spearman %.2f -> %.2f  regret %5.1f %% -> %5.1f %%" % (
            c, (p.case == c).sum(), plain[c][0], fitted[c][0], 100 * plain[c][1], 100 * fitted[c][1]))
    return plain, fitted


def write(path, p, names):
    x, y, w = p.centred()
    penalty = best_penalty(p, x, y, w, np.ones(len(p.y), bool))
    weights = ridge(x, y, w, penalty)
    with open(path, "w") as f:
        f.write("# Weights of bench/cost/fit.py, of %d points of %d cases in %s; penalty %g.\n" % (
            len(p.y), len(np.unique(p.case)), ", ".join(names), penalty))
        for name, v in zip(p.names, weights):
            f.write("%-34s %9.4f\n" % (name, v))
    print(open(path).read(), end="")


def main():
    o = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    o.add_argument("told", nargs="+")
    o.add_argument("--seed", type=int, default=1)
    o.add_argument("--write")
    o.add_argument("--facts")
    o = o.parse_args()
    rows = [json.loads(line) for path in o.told for line in open(path)]
    rows = [r for r in rows if (r.get("kernels") or r.get("facts")) and r.get("measured")]
    if o.facts:
        with open(o.facts, "w") as f:
            for r in rows:
                kept = [float("%.4g" % v) for v in facts(r).values()]
                f.write(json.dumps({"op": r["op"], "graph": r["graph"], "measured": r["measured"], "told": r["told"], "facts": kept}) + "\n")
    p, rng = Points(rows), np.random.default_rng(o.seed)
    print("%d points, %d ops, %d graphs" % (len(rows), len(np.unique(p.op)), len(np.unique(p.graph))))
    tell("ops left out", p, judged(p, p.op), rng)
    tell("graphs left out", p, judged(p, p.graph), rng)
    if o.write:
        write(o.write, p, o.told)


if __name__ == "__main__":
    main()
