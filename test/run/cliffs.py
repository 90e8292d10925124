#!/usr/bin/env python3
"""Finds cliffs in the default schedules: what is slow by far though the op is not, from the plan and --resource-usage alone.

Usage: cliffs.py GNNC [--level=quick|full] [--arch=sm_90a] [--random=N] [--seed=N] [--jobs=2] [--known=TABLE] [--list] [FILE.gnn ...]

Every op of the files is planned for a graph of 20,000 nodes and 200,000 edges on an H200, which need not be here; nothing is launched. A cliff is
  naive    a stage, or the whole op, that the default schedule refuses, and that the naive plan takes
  blocks   a kernel of 2^20 operations or more on fewer blocks than half of the multiprocessors; of random ops it is told, and no
           fault: some draw ten rows of 200,000 features, which no default cuts
  steps    kernels that go through 64 times as many steps as the op has operations and elements
  spill    a kernel of which the assembler puts more than 32 bytes of registers a thread into memory
quick: of the version that the graph selects. full: of skewed graphs too, and spills of all versions, on sm_80 and sm_90a. Without files, those of
test/run/Inputs/cliffs are taken, and of the library where the level is full; --random=N adds as many ops of random_ops.py, with their gradients where they have one.
A random op that takes more memory than a compiler is given is judged on a small graph, or told as not judged.
--list prints the bytes of each op's kernels beside those that must be moved.

KNOWN lists what is not mended yet, with a reason. A cliff that is not listed is a fault, and so is a listed one that is there no more.
"""
import argparse
import concurrent.futures
import os
import re
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OWN = os.path.join(ROOT, "test", "run", "Inputs", "cliffs")
sys.path.insert(0, os.path.join(ROOT, "test", "fuzz"))
import random_ops  # noqa: E402

GRAPHS = {"quick": ["er:20000:200000,types=8"], "full": ["er:20000:200000,types=8", "rmat:14:12,types=8"]}
SMALL = "er:500:4000,types=8"   # for random ops that take more memory on those, as with results for all pairs of edges
SIZES = {"F": 64, "K": 32, "Q": 32, "H": 8, "D": 16, "R": 8, "S": 3}
DEVICE, SMS, FEW_OPERATIONS, STEPS, DEGREE = "h200", 132, 1 << 20, 64, 10
SPILLED = 32   # bytes a thread, up to which an assembler's own calls, as of divisions, save what they use
TIMEOUT, MEMORY = 600, 6 << 30   # of a compiler: seconds, bytes

# (op, cliff): why. As the default schedules get better, lines leave.
KNOWN = {
    ("gt_edges_grad_f32", "spill"): "40 bytes of 64 registers, of rows in parts on sm_90",
    ("pna_grad_f32", "blocks"): "64 blocks: a sum over all nodes of parts of 256",
    ("sage_mean_grad_f32", "steps"): "what a map of two axes takes to a point is not walked by rows",
}
# Twenty segments of a thousand points: parts of a row are as long as that.
KNOWN.update({(op + "_f32", "blocks"): "few segments, of few parts each" for op in (
    "best_two", "masked_sum", "moments", "readout", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_std", "segment_sum",
    "segment_var", "strided_mean")})

# Products of rows of edges that are flat: a block has 512 rows of a matrix that its warps hold, and the graph 20,480.
KNOWN.update({(op + "_f32", "blocks"): "a product of 20,480 rows, 512 a block" for op in ("ordered", "ordered_grad", "steered")})

KNOWN_FULL = {("attended_f32", "blocks"): "on skewed graphs, likewise"}   # seen with level full alone


class Op:
    """What is said of one op on one graph."""

    def __init__(self, name, version, sizes):
        self.name, self.version, self.sizes = name, version, sizes
        self.kernels, self.must, self.flops = [], 0.0, 0.0


def run(command):
    try:
        r = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return 124, "", "it took more than %d s" % TIMEOUT
    return r.returncode, r.stdout, r.stderr


# ---- What the compiler says ------------------------------------------------------------------------------------------
HEAD = re.compile(r"^(\S+) on \S+ \(.*\), version '([^']*)', (.*)$")
MUST = re.compile(r"^the op must move ([\d.]+) MB and take ([\d.]+) MFLOP")


def read_estimates(text):
    ops, titles = [], None
    for line in text.splitlines():
        head, must, cells = HEAD.match(line), MUST.match(line), line.split()
        if head:
            ops.append(Op(head.group(1), head.group(2), {k: int(v) for k, v in re.findall(r"(\S+)=(\d+)", head.group(3))}))
        elif must and ops:
            ops[-1].must, ops[-1].flops, titles = float(must.group(1)), float(must.group(2)) * 1e6, None
        elif cells and cells[0] == "kernel" and "blocks" in cells:
            titles = cells
        elif titles and cells and ops:
            ops[-1].kernels.append(dict(zip(titles, cells)))
    return ops


def extent(op, maps, text):
    """Steps of a loop on average: a size, the points of a row or of a part of one, the parts of all rows, or, of a number, that."""
    lo, hi = text.split(" .. ", 1)
    size, part = re.fullmatch(r"size\(([^)]*)\)", hi), re.search(r"(?:\.parts|cut_parts\([\w.]+, |part_ends\.\S*?\.)(\d+)", hi)
    if size and size.group(1) in op.sizes:
        return op.sizes[size.group(1)]
    if lo == "0" and hi.isdigit():
        return int(hi)
    if hi.startswith("at_least("):
        return 0   # rows that are cut: a graph has none, or few
    for name, (domain, into) in maps.items():
        points, rows = op.sizes.get(domain), op.sizes.get(into)
        if name in hi and points and rows and part:
            return min(int(part.group(1)), points / rows) if "part_ends" in hi else points / int(part.group(1)) + rows
        if name in hi and points and rows:
            return points / rows
    return DEGREE


def operations(op, loop):
    """Of each kernel of the op's version, by what its loops contribute and store."""
    maps = {m.group(1): m.group(2, 3) for m in re.finditer(r"^  map ([\w.]+) : (\w+)[^>]*-> (\w+)", loop, re.M)}
    op.sizes.update({m.group(1): int(m.group(2)) for m in re.finditer(r"^  space ([\w.]+) = (\d+)$", loop, re.M)})
    section = ("\n" + loop).split("\n// version %s\n" % op.version) if "\n// version " in "\n" + loop else ["", loop]   # of one there is no title
    counts, nest, kernel = {}, [], None
    for line in (section[1] if len(section) > 1 else "").split("\n// version ")[0].splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "kernel":
            kernel, nest = words[1], []
            counts[kernel] = 0
        if kernel is None:
            continue
        loop_of = re.match(r"\s*for \S+ in (.*?) (?:\[|\{)", line)
        points = extent(op, maps, loop_of.group(1).strip()) if loop_of else 1
        if words[0] in ("contribute", "store", "clear", "store_state"):
            n = 1
            for x in nest:
                n *= x
            counts[kernel] += n
        if words[-1] == "{":
            nest.append(points)
        elif words[-1] == "}" and nest:
            nest.pop()
    return counts


def stem(kernel):
    return re.sub(r"(_\d+)+$", "", kernel)


def spilled(cell):
    stored = cell.split("+")[0]
    return stored.isdigit() and int(stored) > SPILLED


# ---- What is a cliff -------------------------------------------------------------------------------------------------
def paired(op, counts):
    """Each kernel of the table with its operations. Both are in the order of launches; names differ by what makes them unique among versions."""
    rest = list(counts.items())
    for k in op.kernels:
        at = next((i for i, (name, _) in enumerate(rest) if stem(name) == stem(k["kernel"])), None)
        n = rest[at][1] if at is not None else 0
        rest = rest[at + 1:] if at is not None else rest
        yield k, n


def cliffs_of(op, counts, naive):
    found = []
    if op.version == "naive" or naive:
        found.append(("naive", naive or "no version of the default fits"))
    for k, n in paired(op, counts):
        if n >= FEW_OPERATIONS and int(k["blocks"]) < SMS // 2:
            found.append(("blocks", "%s: %s blocks for %.3g operations" % (k["kernel"], k["blocks"], n)))
        if spilled(k["spills"]):
            found.append(("spill", "%s: %s bytes" % (k["kernel"], k["spills"])))
    steps, work = sum(counts.values()), op.flops + op.must * 1e6 / 4
    if steps > STEPS * max(work, FEW_OPERATIONS):
        found.append(("steps", "%.3g steps for %.3g operations" % (steps, work)))
    return found


def naive_stages(errors):
    """{op: what W0502 says of it, or of a stage of it}."""
    said = re.finditer(r"warning\[W0502\]: ((?:'[\w.]+' of )?'(\w+)' .*)", errors)
    return {m.group(2): m.group(1) for m in said}


def sizes_of(path, text):
    """Sizes that a file gives itself, as `// sizes: F=60 H=3`, and those of SIZES."""
    own = re.search(r"^// sizes:(.*)$", text, re.M)
    sizes = dict(SIZES)
    sizes.update(w.split("=") for w in own.group(1).split()) if own else None
    return [w for k, v in sizes.items() for w in ("-D", "%s=%s" % (k, v))]


def judge_file(args, path, sizes, graph, folder):
    """[(op, cliff, text)], a line a cliff, and lines for --list."""
    out = tempfile.mkdtemp(dir=folder)
    common = [path, "--arch=" + args.arch, "-Wno-unused-option"] + sizes
    for g in (graph, SMALL) if path.startswith(folder) else (graph,):
        status, text, errors = run([args.gnnc, "run", *common, "--graph=" + g, "--target=sim", "--device=" + DEVICE, "--resource-usage", "--repeat=0"])
        if "out of memory" not in errors:
            break
    else:
        return [(os.path.basename(path), "memory", "more than %d GB" % (MEMORY >> 30))], []
    ops = read_estimates(text)
    if status not in (0, 1) or not ops:
        return [(os.path.basename(path), "fault", "exit %d: %s" % (status, errors.strip()[-300:]))], []
    naive = naive_stages(run([args.gnnc, *common, "--emit=loop", "-o", out + "/"])[2])
    found, lines = [], []
    for op in ops:
        loop = os.path.join(out, op.name + ".loop")
        counts = operations(op, open(loop).read()) if os.path.exists(loop) else {}
        found += [(op.name, kind, text) for kind, text in cliffs_of(op, counts, naive.get(op.name))]
        moved = sum(float(k["MB"].lstrip("<")) for k in op.kernels)
        lines.append("%-32s %10.3f of %10.3f MB  %6.2f  %s" % (op.name, moved, op.must, moved / op.must if op.must else 0, op.version))
    return found, lines


def spills_of(args, path, sizes, arch):
    """Of all versions; the naive plan may."""
    found, op = [], None
    _, text, _ = run([args.gnnc, path, "--arch=" + arch, "-Wno-unused-option", *sizes, "--resource-usage", "--emit=cubin", "-o", args.folder + "/%d.%s/" % (hash(path), arch)])
    for line in text.splitlines():
        head, cells = re.match(r"^(\S+), indices of", line), re.split(r"\s{2,}", line.strip())
        op = head.group(1) if head else op
        if len(cells) > 5 and op and cells[1].startswith(op) and spilled(cells[4]) and cells[0] != "naive":
            found.append((op, "spill", "%s %s: %s bytes in '%s'" % (arch, cells[1], cells[4], cells[0])))
    return found, []


# ---- Ops -------------------------------------------------------------------------------------------------------------
def files_given(args):
    library = os.path.join(ROOT, "stdlib")
    folders = (library, OWN) if args.level == "full" else (OWN,)
    paths = args.files or sorted(os.path.join(f, n) for f in folders for n in os.listdir(f) if n.endswith(".gnn") and n != "prelude.gnn")
    return [(p, sizes_of(p, open(p, encoding="utf-8").read())) for p in paths]


def random_op(args, number, folder):
    """With its gradient by all parameters of floats, if it has one."""
    case = random_ops.make(args.seed, number)
    text, path = case.text(), os.path.join(folder, "random_%d_%d.gnn" % (args.seed, number))
    head = re.search(r"\bop main\s*(?:<[^>]*>)?\s*\((.*?)\)\s*->", text, re.S)
    floats = re.findall(r"(\w+): (?:T|f32|f64|f16|bf16)\[", head.group(1)) if head else []
    text = re.sub(r"\bop main\b", "op main_%d" % number, text)
    sizes = [w for k, w in enumerate(case.options) if w == "-D" or (k and case.options[k - 1] == "-D")]
    for wrt in (floats, []):
        open(path, "w", encoding="utf-8").write(text + ("grad main_%d wrt (%s);\n" % (number, ", ".join(wrt)) if wrt else ""))
        if run([args.gnnc, "check", path, "-Wno-unused-option", *sizes])[0] == 0:
            return path, sizes
    return None


def jobs_of(args, folder):
    full = args.level == "full"
    ops = files_given(args) + [r for r in (random_op(args, n, folder) for n in range(args.random)) if r]
    for path, sizes in ops:
        for graph in GRAPHS[args.level]:
            yield judge_file, (args, path, sizes, graph, folder)
        for arch in ("sm_80", "sm_90a") if full else ():
            yield spills_of, (args, path, sizes, arch)


# ---- The table -------------------------------------------------------------------------------------------------------
def compare(found, seen_ops, known):
    """Lines for what is not listed, and for what is listed and was not found."""
    faults = []
    for (op, kind), texts in sorted(found.items()):
        if (op, kind) not in known and not (kind == "blocks" and op.startswith("main_")):
            faults += ["%s: %s: %s" % (op, kind, t) for t in sorted(texts)]
    for (op, kind), why in sorted(known.items()):
        if op in seen_ops and (op, kind) not in found:
            faults.append("%s: %s: listed (%s), and there no more: take it out of the table" % (op, kind, why))
    return faults


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gnnc")
    p.add_argument("files", nargs="*")
    p.add_argument("--level", choices=GRAPHS, default="quick")
    p.add_argument("--arch", default="sm_90a")
    p.add_argument("--random", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--list", action="store_true")
    p.add_argument("--known", type=lambda s: dict([(tuple(s.split(":")), "asked for")]), help="OP:CLIFF in place of the table")
    args = p.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    known = args.known if args.known is not None else KNOWN | (KNOWN_FULL if args.level == "full" else {})
    found, ops, lines = {}, set(), []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        args.folder = folder
        for cliffs, own in pool.map(lambda j: j[0](*j[1]), jobs_of(args, folder)):
            lines += own
            ops |= {line.split()[0] for line in own}
            for op, kind, text in cliffs:
                found.setdefault((op, kind), set()).add(text)
    few = sorted(op for op, kind in found if kind == "blocks" and op.startswith("main_"))
    large = [op for op, kind in found if kind == "memory"]
    found = {k: v for k, v in found.items() if k[1] != "memory"}
    faults = compare(found, ops, known)
    print("\n".join((sorted(lines) if args.list else []) + faults))
    print("%d ops, %d cliffs, %d of them listed, %d faults%s%s" % (
        len(ops), len(found), len([k for k in found if k in known]), len(faults),
        "; random ops on few blocks: " + ", ".join(few) if few else "",
        "; not judged, as %d GB are not enough: %s" % (MEMORY >> 30, ", ".join(sorted(large))) if large else ""))
    return 1 if faults or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
