"""Schedules at random that swizzle a tile of a sum by matrix operations: each is refused, or right in
the simulator, where the tile's lines have no bank conflict and its addresses an XOR.
swizzles.py GNNC CASES [SEED]: prints how many were refused, and by what."""
import collections, os, random, re, subprocess, sys, tempfile

OPS = {
    "dense": ("x: T[N, K], w: T[K, Q]", "y: T[N, Q]", "y[n, q] = sum{k}", "x[n, k]", "w[k, q]", "n", "k"),
    "turned": ("x: T[N, K], w: T[Q, K]", "y: T[N, Q]", "y[n, q] = sum{k}", "x[n, k]", "w[q, k]", "n", "k"),
    "across": ("x: T[K, N], w: T[K, Q]", "y: T[N, Q]", "y[n, q] = sum{k}", "x[k, n]", "w[k, q]", "n", "k"),
    "typed": ("type: N -> R sorted, x: T[N, K], w: T[R, K, Q]", "y: T[N, Q]", "y[n, q] = sum{k}", "x[n, k]",
              "w[type[n], k, q]", "n", "k"),
    "gathered": ("src: N -> U, x: T[U, K], w: T[K, Q]", "y: T[N, Q]", "y[n, q] = sum{k}", "x[src[n], k]", "w[k, q]",
                 "n", "k"),
    "weights": ("type: E -> R sorted, x: T[E, N], w: T[E, Q]", "y: T[R, N, Q]",
                "y[r, n, q] = sum{e : type[e] == r}", "x[e, n]", "w[e, q]", "n", "e"),
}

WALK = """op walk<T>(src: E -> U, dst: E -> V sorted, q: T[V, H, D], k: T[U, H, D], z: T[U, H, D]) -> (y: T[V, H, D]) {
    s[e, h] = (sum{d} q[dst[e], h, d] * k[src[e], h, d]) * rsqrt(D);
    a[e, h] = softmax(s[e, h] by dst);
    y[v, h, d] = sum{e : dst[e] == v} a[e, h] * z[src[e], h, d];
}
op gathered_rows<T>(src: E -> U, dst: E -> V sorted, z: T[U, D]) -> (y: T[V, D]) {
    y[v, d] = sum{e : dst[e] == v} z[src[e], d];
}
"""


def draw_walk(rng):
    """A walk of windows, whose slots' rows are columns of scores and the depth of sums."""
    pick = lambda *xs: rng.choice(xs)
    type_ = pick("f16", "f16", "bf16", "f32")
    operand = type_ if type_ != "f32" else "tf32"
    warps = pick(1, 2, 4)
    row = "".join(f"  {verb} d {n};" for verb, n in
                  (("vector", pick(2, 4, 8)), ("registers", pick(2, 4, 8))) if rng.random() < .6)
    groups = f"groups v {warps};" if warps > 1 else ""
    window = f"window v {16 * warps} by src {16 if type_ != 'f32' else 8};  mma e {operand};  pipeline e {pick(1, 2, 3)};"
    sizes = {"D": pick(16, 32, 64, 128), "H": pick(1, 2)}
    if rng.random() < .4:
        return "gathered_rows", type_, [f"{groups}  {window} {row}  keep z shared swizzle"], "z", sizes
    k, z = pick((" swizzle", ""), ("", " swizzle"), (" swizzle", " swizzle"))
    said = ["fuse a.max, a.sum, y at e", "online a.max, a.sum", "inline s.sum, s, a",
            *([f"a.max, a.sum: {{ {groups} }}"] if groups else []),
            f"y: {{ {groups}  {window} {row}  keep z shared{z}; }}  s.sum: {{ mma d {operand}; {row}  keep k shared{k}; }}"]
    return "walk", type_, said, "kz" if k and z else "k" if k else "z", sizes


def op_text(name):
    if name not in OPS:
        return WALK
    takes, gives, left, x, w, _, _ = OPS[name]
    return f"op {name}<T>({takes}) -> ({gives}) {{\n    {left}\n        {x}\n        *\n        {w};\n}}\n"


LINES = {"x": "3", "w": "5", "k": "2", "z": "7", "kz": "[24]"}   # of a walk all copies are on line 4


def draw(rng):
    if rng.random() < .25:
        return draw_walk(rng)
    name = rng.choice(list(OPS))
    rows, depth = OPS[name][5:]
    pick = lambda *xs: rng.choice(xs)
    type_ = pick("f16", "f16", "bf16", "f32")
    operand = {"f16": "f16", "bf16": "bf16"}.get(type_) if rng.random() < .85 else "tf32"
    said = [f"mma {depth} {operand or pick('tf32', 'tf32', 'tf32x3', 'f16')}"]
    block = pick(16, 32, 64, 128)
    tiles = name == "typed"
    said.append(f"block {rows} {block}" + (" by type" if tiles else ""))
    if name == "weights":
        said.append("block r 1")
    if rng.random() < .6:
        said.append(f"block q {pick(16, 32, 64)}")
    for index in (rows, "q"):
        if rng.random() < .5:
            said.append(f"groups {index} {pick(2, 2, 4)}")
        if rng.random() < .4:
            said.append(f"registers {index} {pick(2, 4, 8)}")
        if rng.random() < .3:
            said.append(f"vector {index} {pick(2, 4, 8)}")
    if rng.random() < .5:
        said.append(f"vector {depth} {pick(2, 4, 8)}")
    if rng.random() < .4:
        said.append(f"registers {depth} {pick(2, 4, 8, 16)}")
    if rng.random() < .3:
        said.append(f"tile {depth} {pick(32, 64)}")
    swizzled = pick("x", "w")
    other = "w" if swizzled == "x" else "x"
    said.append(f"keep {swizzled} shared swizzle")
    if rng.random() < .7:
        said.append(f"keep {other} shared")
    said.append(f"pipeline {depth if rng.random() < .8 else rows} {pick(1, 2, 3)}")
    sizes = {"K": pick(32, 64, 96, 128, 200), "Q": pick(16, 32, 64, 128, 72), "N": pick(16, 32, 64, 128)}
    return name, type_, said, swizzled, sizes


def run(gnnc, folder, case, number):
    name, type_, said, swizzled, sizes = case
    path = os.path.join(folder, f"case{number}.gnn")
    text = op_text(name) + f"schedule {name} drawn {{ {'  '.join(x if x.endswith('}') else x + ';' for x in said)} }}\n"
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    known = [f"-D{s}={n}" for s, n in sizes.items() if s != "N" or name == "weights" or name == "across"]
    rows = [] if name in ("weights", "across") else [f"--size=N={random.Random(number).choice([0, 1, 50, 64, 128])}"]
    if name == "across":
        rows = []
    graph = {"typed": ["--graph=er:40:170,types=5"], "gathered": ["--graph=er:40:170"],
             "weights": ["--graph=er:40:300,types=5"]}.get(name, [])
    if name in ("typed", "gathered") or name not in OPS:
        rows = []
        graph = graph or [f"--graph={random.Random(number).choice(['er:150:2500', 'star:140', 'er:40:60'])}", f"--op={name}"]
    command = [gnnc, "run", path, f"-DT={type_}", *known, *rows, *graph, "--target=sim", "--check", "--profile",
               "--schedule=drawn", "-Wno-unused-option"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return command, text, done.stdout + done.stderr, done.returncode


def is_full(command, known):
    """Tiles are full: lanes past an end would read its last row, or column, again."""
    text = subprocess.run([command[0], command[2], *[x for x in command[3:] if x.startswith("-D")], "--emit=loop",
                           "--schedule=drawn", "-Wno-unused-option", "-o", "-"], capture_output=True, text=True,
                          check=False).stdout
    for index, bounds, digits in re.findall(r"for (n|q)(?:\.\w+)? in (.*) \[(.*?)\]", text.split("\nversion")[0]):
        points = 1
        for place, extent in re.findall(r"(\w+) (\d+)(?: unit \d+)?,", digits):
            points *= int(extent) if place != "serial" else 1
        size = known.get({"n": "N", "q": "Q"}[index])
        if not bounds.startswith("0 .. ") or not size or size % points:
            return False
    return True


def judge(out, code, swizzled, number):
    """(verdict, why): refused, right, or wrong."""
    error = re.search(r"error\[(E\d+)\]: (.*)", out)
    if error:
        return "refused", re.sub(r"'[^']*'|\d+", "_", error.group(1) + " " + error.group(2))[:90]
    if code or not re.search(r"\bright$", out, re.M):
        return "wrong", "no right result"
    if not re.search(r" sim +\S+ +drawn ", out):
        return "elsewhere", "another version was taken"
    head = [x.split() for x in out.splitlines() if x.startswith("line ")]
    found = 0
    for row in out.splitlines():
        if re.match(rf"case{number}\.gnn:{LINES[swizzled]} ", row) and head and "conflicts" in head[0]:
            found += int(row.split()[head[0].index("conflicts")])
    return ("conflicts", f"{found} conflicts") if found else ("right", "")


def main():
    gnnc, cases = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(cases):
            case = draw(random.Random(f"{seed}/{number}"))
            command, text, out, code = run(gnnc, folder, case, number)
            verdict, why = judge(out, code, case[3], number)
            if verdict == "conflicts":
                rows = [int(x.split("=")[2]) for x in command if x.startswith("--size=N=")]
                known = dict(case[4], **({"N": rows[0]} if rows else {}))
                if any(x.startswith("--graph=") for x in command) and case[0] != "weights":
                    known.pop("N", None)   # of the graph
                verdict = "wrong" if is_full(command, known) else "right, but for tiles that are not full"
            counts[verdict if verdict != "refused" else f"refused: {why}"] += 1
            if verdict == "wrong":
                print(f"case {number}: {why}\n{' '.join(command)}\n{text}{out}")
    for what, n in sorted(counts.items(), key=lambda x: -x[1]):
        print(f"{n:6} {what}")
    sys.exit(counts["wrong"] > 0)


if __name__ == "__main__":
    main()
