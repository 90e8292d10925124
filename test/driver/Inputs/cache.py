"""cache.py GNNC FOLDER PART: what gnnc's compile cache does. Parts: hits keys poison folders limits verbs faults.

faults takes the library of test/support/Inputs/fail_call.c, too. Each part makes its sources, caches and outputs in FOLDER, prints what it has looked at, and ends with status 1 at the first thing
that is not as it should be. A hit or a miss is what --time-report tells."""
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time

gnnc, work, part = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
HEADER = 88   # bytes before the payload of an entry
PTX = ["--op=one", "--no-schedule", "-O0", "--emit=ptx"]   # soon made
counts = {}


def demand(good, what, *more):
    if not good:
        print("WRONG: " + what, *more, sep="\n")
        sys.exit(1)


def count(what):
    counts[what] = counts.get(what, 0) + 1


def write(name, text):
    path = os.path.join(work, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb" if isinstance(text, bytes) else "w") as f:
        f.write(text)
    return path


def read(name):
    with open(os.path.join(work, name), "rb") as f:
        return f.read()


def environment(cache="cache", **more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("GNNC_", "XDG_")) and k != "HOME"}
    if cache:
        env["GNNC_CACHE_DIR"] = os.path.join(work, cache)
    env.update({k: v for k, v in more.items() if v is not None})
    return env


def run(arguments, env=None, program=None, **more):
    return subprocess.run([program or gnnc] + arguments, cwd=work, env=env or environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, **more)


class Compiled:
    """A compile: what it wrote to `out`, or to the standard output, said, and took from the cache."""

    def __init__(self, arguments, out="out", **more):
        shutil.rmtree(os.path.join(work, "o"), ignore_errors=True)
        os.makedirs(os.path.join(work, "o"))
        done = run(arguments + ["--time-report"], **more)
        said = done.stderr.decode()
        self.status, self.stdout = done.returncode, done.stdout
        told = re.search(r"^cache: (.*)\n", said, re.M)
        self.cache = told.group(1) if told else ""
        self.hit = self.cache.startswith("compile hit")
        self.miss = self.cache.startswith("compile miss")
        self.cubins = re.search(r"cubins: (\d+) hits, (\d+) misses", self.cache)
        self.said = re.sub(r"^ *[\d.]+ (ms  |instructions |MB of ).*\n|^cache: .*\n", "", said, flags=re.M)
        self.files = {}
        for place, _, names in os.walk(os.path.join(work, "o")):
            for name in names:
                path = os.path.join(place, name)
                self.files[os.path.relpath(path, work)] = open(path, "rb").read()

    def same(self, other):
        return (self.status, self.stdout, self.said, self.files) == (other.status, other.stdout, other.said, other.files)


def entries(cache="cache"):
    """The paths of all entries."""
    found = []
    for place, _, names in os.walk(os.path.join(work, cache)):
        found += [os.path.join(place, n) for n in names if re.fullmatch("[0-9a-f]{64}", n)]
    return sorted(found)


def kind_of(path):
    with open(path, "rb") as f:
        return {1: "reads", 2: "compile", 3: "cubin"}[int.from_bytes(f.read(16)[12:16], "little")]


def prepare():
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    shutil.copy(os.path.dirname(os.path.abspath(__file__)) + "/copy.gnn", work + "/in.gnn")


def has_assembler():
    return b"assembler   none" not in run(["doctor"]).stdout


# ---- Hits ---------------------------------------------------------------------------------------

def hits():
    """What a hit writes and says is what a compile without a cache does."""
    quick = ["--no-schedule", "-O0"]
    cases = [
        ["in.gnn", "--op=one", "--emit=tensor,loop,simt,plan"],
        ["in.gnn", "--op=one", "--emit=ptx", "-o", "-"] + quick,
        ["in.gnn", "--emit=ptx,manifest", "-o", "o/"] + quick,
        ["in.gnn", "--op=one", "--emit=llvm,ptx", "-arch", "sm_80", "-arch", "sm_90a", "-o", "o/"] + quick,
        ["in.gnn", "--op=one", "--emit=ptx,manifest", "-o", "o/x.ptx", "-MD"] + quick,
        ["in.gnn", "--op=one", "--emit=ptx", "-o", "o/x.ptx", "-MD", "-MF", "o/y.d"] + quick,
        ["in.gnn", "--op=two", "--target=host", "-o", "o/x.o", "-MD"] + quick,
        ["in.gnn", "--target=host", "--emit=asm,header", "-o", "o/"] + quick,
        # what is said: warnings, as text and as JSON, coloured, and one of an option
        ["in.gnn", "--op=one", "--emit=simt", "-o", "o/x.simt", "-D", "Q=3"],
        ["in.gnn", "--op=one", "--emit=simt", "-o", "o/x.simt", "-D", "Q=3", "--diagnostics-format=json"],
        ["in.gnn", "--op=one", "--emit=simt", "-o", "o/x.simt", "-D", "Q=3", "--color=always"],
        ["in.gnn", "--op=one", "--emit=simt", "-o", "o/x.simt", "-MF", "o/x.d"],
        # several inputs, an import and a library file
        ["in.gnn", "user.gnn", "--emit=simt", "-o", "o/", "-MD", "-MF", "o/z.d"],
    ]
    if has_assembler():
        cases += [["in.gnn", "--op=one"] + quick + more for more in (
            ["-o", "o/x.cubin"], ["--emit=cubin,manifest", "-o", "o/x.cubin", "-MD"], ["-c", "-o", "o/"],
            ["--emit=cubin", "-o", "o/x.cubin", "--resource-usage"], ["--emit=obj,header", "-o", "o/x.o"],
            ["--emit=obj,header", "--target=cuda,host", "-arch", "sm_80", "-arch", "sm_90", "-o", "o/x.o", "-MD"])]
    write("part.gnn", "fn twofold(x) = 2 * x;\n")
    write("user.gnn", 'import "part";\nop twice(a: f32[N]) -> (y: f32[N]) { y[n] = twofold(a[n]); }\n')
    for case in cases:
        without = Compiled(case + ["--no-cache"])
        demand(without.status == 0, "status %d" % without.status, case, without.said)
        demand(not without.cache, "--no-cache is told of", without.cache)
        first, second = Compiled(case), Compiled(case)
        demand(first.miss and second.hit, "a miss, then a hit", case, first.cache, second.cache)
        demand(first.same(without), "a miss differs from --no-cache", case, first.said, without.said)
        demand(second.same(without), "a hit differs from --no-cache", case, second.said, without.said)
        count("compiles")
        count("warnings") if "warning" in without.said else None
    demand(counts["warnings"] == 4, "four compiles warn", counts)
    # by another name, and without -MD
    for k, (a, b, hit) in enumerate(((["-o", "o/a.ptx"], ["-o", "o/b.ptx"], True), (["-o", "o/a.ptx"], ["-o", "o/b.ptx", "-MF", "x"], False),
                      (["-o", "o/c/"], ["-o", "o/d/"], True), (["-o", "o/e.ptx"], ["-o", "o/f/"], False))):
        os.makedirs(work + "/o", exist_ok=True)
        bound = ["-D", "F=%d" % (k + 9)]
        Compiled(["in.gnn"] + bound + PTX + a)
        second, without = [Compiled(["in.gnn"] + bound + PTX + b + more) for more in ([], ["--no-cache"])]
        demand(second.hit == hit and second.same(without), "-o by another name", a, b, second.cache)
        count("names")
    header = ["in.gnn", "--op=one", "--target=host", "--emit=header", "-o"]
    Compiled(header + ["o/a.h"])
    second = Compiled(header + ["o/b.h"])
    demand(second.miss and b"_b_h" in second.files["o/b.h"].lower().replace(b".", b"_") or b"b.h" in second.files["o/b.h"].lower()
           or second.same(Compiled(header + ["o/b.h", "--no-cache"])), "a header has the guard of its name")
    demand(second.miss, "a header depends on its name", second.cache)
    # faults are told each time, and an output that is an input is refused on a hit, too
    for _ in range(2):
        bad = Compiled(["in.gnn", "--op=none", "--emit=simt"])
        demand(bad.status == 1 and "E0806" in bad.said and bad.miss, "a fault is told each time", bad.cache)
    Compiled(["in.gnn", "--op=one", "--emit=simt", "-o", "o/x.simt"])
    bad = Compiled(["in.gnn", "--op=one", "--emit=simt", "-o", "in.gnn"])
    demand(bad.status == 2 and "E0808" in bad.said and bad.hit, "an input is not overwritten", bad.said, bad.cache)
    # what looks inside, and what cannot be read twice
    for more in (["--print-after=normalise"], ["--verify"], ["--no-verify"]):
        for _ in range(2):
            x = Compiled(["in.gnn", "--op=one", "--emit=simt"] + more)
            demand(x.cache.startswith("compile not asked for: --"), "what looks inside compiles", more, x.cache)
    for _ in range(2):
        x = Compiled(["-", "--op=one", "--emit=simt", "-o", "-"], input=read("in.gnn"))
        demand("it reads the standard input" in x.cache and b"kernel" in x.stdout, "standard input", x.cache)
    for _ in range(2):
        x = Compiled(["in.gnn", "--op=one", "--emit=simt"], env=environment(GNNC_PLAN_FAULT="y"))
        demand("GNNC_PLAN_FAULT" in x.cache, "a fault on purpose", x.cache)


# ---- Keys ---------------------------------------------------------------------------------------

def other_build(path):
    """A copy of gnnc with another build ID."""
    data = bytearray(open(gnnc, "rb").read())
    at = data.find(b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
    demand(at > 0, "gnnc has no build ID")
    data[at + 16] ^= 1
    write(path, bytes(data))
    os.chmod(os.path.join(work, path), 0o755)
    return os.path.join(work, path)


def keys():
    """Each thing that a result depends on makes a miss, and as it was, a hit."""
    write("part.gnn", "fn twofold(x) = 2 * x;\n")
    write("user.gnn", 'import "part";\nop twice(a: f32[N, F]) -> (y: f32[N, F]) { y[n, f] = twofold(a[n, f]); }\n'
                      "op other(a: f32[N]) -> (y: f32[N]) { y[n] = a[n]; }\n"
                      "op grown<T: float>(a: T[N]) -> (y: T[N]) { y[n] = a[n]; }\n")
    write("i/empty.gnn", "")
    write("rules.gnn.rule", "schedule twice slim { block n 64; }\n")
    base = ["user.gnn", "--op=twice", "--emit=ptx", "-o", "o/x.ptx", "-I", "i"]
    first = Compiled(base)
    demand(first.miss and first.status == 0, "the first compile", first.said, first.cache)
    demand(Compiled(base).hit, "the second compile")

    def differs(what, arguments=base, back=base, **more):
        x = Compiled(arguments, **more)
        demand(x.status == 0, "%s: status %d" % (what, x.status), x.said)
        demand(x.miss, "%s makes no miss" % what, x.cache)
        plain = Compiled(arguments + ["--no-cache"], **more)
        demand(x.same(plain), "%s: other than --no-cache" % what, x.said, plain.said)
        count("keys")
        if back:
            demand(Compiled(back).hit, "%s undone makes no hit" % what)

    def changed(what, name, text):
        """With a file that has another text, or that there was not."""
        path, before = os.path.join(work, name), None
        if os.path.exists(path):
            before = read(name)
        write(name, text)
        differs(what, back=None)
        write(name, before) if before is not None else os.remove(path)
        demand(Compiled(base).hit, "%s undone makes no hit" % what)

    changed("the source", "user.gnn", read("user.gnn") + b"\n")
    changed("an import", "part.gnn", "fn twofold(x) = 3 * x;\n")
    changed("a rule file beside it", "user.gnn.rule", "schedule twice slim { block n 64; }\n")
    os.rename(work + "/part.gnn", work + "/i/part.gnn")
    differs("an import from -I", back=None)
    demand(Compiled(base).hit, "an import from -I is kept")
    write("part.gnn", "fn twofold(x) = 5 * x;\n")   # now found first
    differs("a file that is found before the one of -I", back=None)
    write("part.gnn", read("i/part.gnn"))
    os.remove(work + "/i/part.gnn")
    Compiled(base)
    demand(Compiled(base).hit, "as it was at first")
    ruled = base + ["--rules=rules.gnn.rule"]
    differs("--rules", ruled)
    before = read("rules.gnn.rule")
    write("rules.gnn.rule", before.replace(b"64", b"32"))
    differs("the text of --rules", ruled)
    write("rules.gnn.rule", before)
    demand(Compiled(ruled).hit, "--rules as they were")
    for more in (["-D", "F=16"], ["-D", "F=32"], ["-O1"], ["-O0"], ["--index=64"], ["--block-size=64"], ["--no-deterministic"],
                 ["-arch", "sm_80"], ["-arch", "sm_90a"], ["--no-schedule"], ["--no-rules"], ["--suffix=_h"], ["--no-lineinfo"],
                 ["--file-prefix-map=user=u"], ["-Wperf"], ["-Wno-unused-option"], ["-Werror"], ["--max-errors=3"],
                 ["--diagnostics-format=json"], ["--color=always"], ["-I", "j"], ["--emit=manifest"], ["-S"],
                 ["--target=cuda"]):
        differs(" ".join(more), base + more)
    differs("another op", ["user.gnn", "--op=other"] + base[2:])
    differs("another form", ["user.gnn", "--op=twice", "--emit=simt", "-o", "o/x.ptx", "-I", "i"])
    differs("the host", ["user.gnn", "--op=twice", "--target=host", "-o", "o/x.o", "-I", "i"])
    differs("a type", ["user.gnn", "--op=grown", "-D", "T=f32", "--emit=ptx", "-o", "o/x.ptx"])
    differs("another type", ["user.gnn", "--op=grown", "-D", "T=f16", "--emit=ptx", "-o", "o/x.ptx"])
    shutil.copy(work + "/user.gnn", work + "/again.gnn")
    differs("the name of the source", ["again.gnn"] + base[1:])
    differs("another compiler", program=other_build("gnnc2"))
    simt = run(["user.gnn", "--op=twice", "--emit=simt", "-o", "t.simt"])
    demand(simt.returncode == 0, "a SIMT text")
    loaded = base + ["--load-simt=t.simt"]
    differs("--load-simt", loaded)
    write("t.simt", read("t.simt") + b"\n")
    differs("the text of --load-simt", loaded)
    # and what makes none
    for more, env in ((["--time-report"], {}), ([], {"LC_ALL": "de_DE.UTF-8", "LANG": "tr_TR.UTF-8"}), ([], {"TZ": "Asia/Tokyo"})):
        demand(Compiled(base + more, env=environment(**env)).hit, "no difference, and no hit", more, env)
        count("same")
    if has_assembler():
        assemblers()
        runs()


def runs():
    """gnnc run takes cubins from the cache, too; --resource-usage has one made where there is no GPU."""
    case = ["run", "in.gnn", "--op=one", "--target=sim", "--graph", "er:5:9", "-D", "F=4", "--resource-usage", "--device=h100"]
    first, second, without = Compiled(case), Compiled(case), Compiled(case + ["--no-cache"])
    demand(first.status == 0 and first.cubins.groups() == ("0", "1"), "the first run", first.cache, first.said)
    demand(second.status == 0 and second.cubins.groups() == ("1", "0"), "the second run", second.cache, second.said)
    demand(not without.cache and without.status == 0, "a run without", without.cache)
    registers = [re.findall(rb"one_y_\d+ +\d+ +\d+ .*", x.stdout) for x in (first, second, without)]
    demand(registers[0] and registers[0] == registers[1] == registers[2], "the log of a cubin", *registers)
    count("runs")


def assemblers():
    """Cubins by their PTX, the assembler and its options."""
    found = re.search(r"^assembler   ptxas: (/\S+)$", run(["doctor"]).stdout.decode(), re.M)
    if not found:
        return
    own = write("ptxas", '#!/bin/sh\nexec %s "$@"\n' % found.group(1))
    os.chmod(own, 0o755)
    env = environment(GNNC_PTXAS=own)
    base = ["in.gnn", "-o", "o/x.cubin", "--op=one", "--no-schedule", "-O0", "--emit=cubin"]

    def cubins(what, arguments, hit, n, env=env):
        x = Compiled(arguments, env=env)
        demand(x.status == 0 and x.hit == hit and x.cubins.groups() == n, what, x.cache, x.said)
        demand(x.same(Compiled(arguments + ["--no-cache"], env=env)), what + ": other than --no-cache")
        count("cubins")

    cubins("the first cubin", base, False, ("0", "1"))
    cubins("a whole compile", base, True, ("0", "0"))
    cubins("a cubin of the same PTX", base + ["-Wno-unused-option"], False, ("1", "0"))
    cubins("another level of the assembler", base + ["-O3"], False, ("0", "1"))
    cubins("another architecture", base + ["-arch", "sm_80"], False, ("0", "1"))
    cubins("without lines", base + ["--no-lineinfo"], False, ("0", "1"))
    cubins("with a log", base + ["--resource-usage"], False, ("0", "1"))
    cubins("with a log, taken", base + ["--resource-usage", "-Wno-unused-option"], False, ("1", "0"))
    cubins("another assembler", base, False, ("0", "1"), environment())
    cubins("the first assembler again", base, True, ("0", "0"))
    os.utime(own, (1, 1))
    cubins("an assembler of another time", base, False, ("0", "1"))
    cubins("which is kept", base, True, ("0", "0"))
    with open(own, "a") as f:
        f.write("# a later version\n")
    cubins("an assembler of another size", base, False, ("0", "1"))
    # one that changes while it runs, and one that fails where another takes the PTX
    write("ptxas", '#!/bin/sh\necho "#" >> "$0"\nexec %s "$@"\n' % found.group(1))
    for _ in range(2):
        cubins("an assembler that changes meanwhile", base, False, ("0", "1"))
    if re.search(r"^assembler   nvjitlink: (?!not found)", run(["doctor"]).stdout.decode(), re.M):
        os.chmod(write("first/ptxas", "#!/bin/sh\nexit 1\n"), 0o755)
        for _ in range(2):
            x = Compiled(base, env=environment(PATH=work + "/first:" + os.environ["PATH"]))
            demand(x.status == 0 and x.miss and x.cubins.groups() == ("0", "1"), "an assembler that fails", x.cache, x.said)
            count("cubins")


# ---- Poison -------------------------------------------------------------------------------------

def flip(path, at):
    data = bytearray(open(path, "rb").read())
    data[at] ^= 4
    replace(path, bytes(data))


def replace(path, data):
    with open(path, "wb") as f:
        f.write(data)


def in_place_of(path, make):
    os.remove(path)
    make(path)


def sized(path, size):
    with open(path, "r+b") as f:
        f.truncate(size)


def same_name(a, b):
    return os.path.basename(a) == os.path.basename(b)


def as_another(path, others):
    other = next(o for o in others if not same_name(o, path) and kind_of(o) == kind_of(path))
    replace(path, open(other, "rb").read())


def of_key(path, others):
    """Another entry's content, under this entry's key, and with a checksum that fits."""
    other = next(o for o in others if not same_name(o, path) and kind_of(o) != kind_of(path))
    data = bytearray(open(other, "rb").read())
    data[24:56] = bytes.fromhex(os.path.basename(path))
    data[56:88] = bytes(32)
    data[56:88] = hashlib.blake2b(bytes(data), digest_size=32).digest()
    replace(path, bytes(data))


def with_payload(path, payload):
    data = bytearray(open(path, "rb").read()[:HEADER]) + payload
    data[16:24] = len(payload).to_bytes(8, "little")
    data[56:88] = bytes(32)
    data[56:88] = hashlib.blake2b(bytes(data), digest_size=32).digest()
    replace(path, bytes(data))


def damages(path, others):
    """What may be wrong with an entry: name, what makes it so."""
    size = os.path.getsize(path)
    for n in (0, 1, HEADER - 1, HEADER, HEADER + 5, size - 1):
        yield "%d bytes of %d" % (n, size), lambda n=n: sized(path, n)
    yield "a byte more", lambda: sized(path, size + 1)
    for at in (0, 7, 8, 12, 16, 23, 24, 55, 56, 87, HEADER, HEADER + (size - HEADER) // 2, size - 1):
        yield "a bit of byte %d" % at, lambda at=at: flip(path, at)
    yield "zeros", lambda: replace(path, bytes(size))
    yield "text", lambda: replace(path, b"# not an entry\n" * 20)
    yield "another entry", lambda: as_another(path, others)
    yield "another kind, rightly sealed", lambda: of_key(path, others)
    for name, payload in (("no payload", b""), ("a length without end", b"\xff" * 64), ("zeros sealed", bytes(64)),
                          ("many outputs", bytes(8) + (1 << 40).to_bytes(8, "little") + bytes(100))):
        yield name + ", rightly sealed", lambda payload=payload: with_payload(path, payload)
    yield "gigabytes", lambda: sized(path, 3 << 30)
    yield "a link to itself", lambda: in_place_of(path, lambda p: os.symlink(p, p))
    yield "a link to a good copy", lambda: (shutil.copy2(path, work + "/copy"), in_place_of(path, lambda p: os.symlink(work + "/copy", p)))
    yield "a second name", lambda: os.link(path, work + "/second")
    yield "a link to nothing", lambda: in_place_of(path, lambda p: os.symlink("/nowhere/at/all", p))
    yield "an endless device", lambda: in_place_of(path, lambda p: os.symlink("/dev/zero", p))
    yield "a pipe", lambda: in_place_of(path, os.mkfifo)
    yield "readable by others", lambda: os.chmod(path, 0o644)
    yield "writable by others", lambda: os.chmod(path, 0o622)
    yield "readable by nobody", lambda: os.chmod(path, 0)
    if os.geteuid() == 0:
        yield "another user's", lambda: os.chown(path, 12345, -1)
    yield "gone", lambda: os.remove(path)


def poison():
    """Whatever an entry is, the compile is right, and the entry is made anew."""
    with_cubins = has_assembler()
    case = ["in.gnn", "-o", "o/x", "--op=one", "--no-schedule", "-O0", "--emit=" + ("cubin" if with_cubins else "ptx")]
    right = Compiled(case + ["--no-cache"])
    for more in (["-arch", "sm_80"], []):
        Compiled(case + more)
    shutil.copytree(work + "/cache", work + "/kept", symlinks=True)
    once = entries("kept")
    mine = [p for p in entries() if used_by(case, p)]
    demand(sorted(map(kind_of, mine)) == (["compile", "cubin", "reads"] if with_cubins else ["compile", "reads"]), "entries of a compile",
           [kind_of(p) for p in mine])
    for path in mine:
        kind, names = kind_of(path), [name for name, _ in damages(path, once)]
        for k, name in enumerate(names):
            restore()
            for p in mine:   # a cubin is asked for where the whole compile is not kept
                if kind == "cubin" and p != path:
                    os.remove(p)
            list(damages(path, once))[k][1]()
            x = Compiled(case)
            demand(x.same(right), "%s, %s: other than without a cache" % (kind, name), x.said)
            demand(not x.hit and (kind != "cubin" or x.cubins.groups() == ("0", "1")), "%s, %s: believed" % (kind, name), x.cache)
            demand(Compiled(case).hit, "%s, %s: not made anew" % (kind, name))
            demand(os.path.isfile(path) and not os.path.islink(path) and stat.S_IMODE(os.stat(path).st_mode) == 0o600,
                   "%s, %s: the new entry is no file of 0600" % (kind, name))
            count("poisons")
        # a folder in its place is a miss for good
        restore()
        in_place_of(path, lambda p: os.makedirs(p + "/in"))
        for _ in range(2):
            demand(Compiled(case).same(right), "%s, a folder: other than without a cache" % kind)
        count("poisons")
    shards()


def restore():
    shutil.rmtree(work + "/cache", ignore_errors=True)
    shutil.copytree(work + "/kept", work + "/cache", symlinks=True)
    for name in ("copy", "second"):
        if os.path.lexists(os.path.join(work, name)):
            os.remove(os.path.join(work, name))


def used_by(case, path):
    """Whether a compile in a cache of its own makes that entry."""
    if not os.path.exists(work + "/own"):
        Compiled(case, env=environment("own"))
    return os.path.exists(path.replace(work + "/cache/", work + "/own/"))


def shards():
    """The folders of entries are looked at as the cache's own is."""
    case = ["in.gnn", "-o", "o/x"] + PTX
    right = Compiled(case + ["--no-cache"])
    damage = {
        "open to others": lambda p: os.chmod(p, 0o755),
        "a link": lambda p: (os.rename(p, work + "/away"), os.symlink(work + "/away", p)),
        "a file": lambda p: (shutil.rmtree(p), write(p, "x")),
    }
    if os.geteuid() == 0:
        damage["another user's"] = lambda p: os.chown(p, 12345, -1)
    for name, make in damage.items():
        shutil.rmtree(work + "/cache")
        Compiled(case)
        demand(Compiled(case).hit, "shards")
        shutil.rmtree(work + "/away", ignore_errors=True)
        for shard in os.listdir(work + "/cache"):
            shutil.rmtree(work + "/away", ignore_errors=True)
            make(os.path.join(work, "cache", shard))
        for _ in range(2):
            x = Compiled(case)
            demand(x.same(right) and x.miss, "a shard that is %s" % name, x.cache)
        count("shards")


# ---- Folders ------------------------------------------------------------------------------------

def folders():
    """Where the cache is, and what is none."""
    case = ["../in.gnn", "-o", "x.ptx"] + PTX
    os.makedirs(work + "/here")

    def two(what, hit, cache=None, why=None, **env):
        """Compiles twice in a folder of its own, where nothing but x.ptx may appear."""
        shutil.rmtree(work + "/here")
        os.makedirs(work + "/here")
        e = environment(cache, **env)
        said = []
        for _ in range(2):
            done = subprocess.run([gnnc] + case + ["--time-report"], cwd=work + "/here", env=e, stderr=subprocess.PIPE, timeout=300)
            demand(done.returncode == 0, what + ": status %d" % done.returncode, done.stderr.decode())
            said.append(done.stderr.decode())
        demand(os.listdir(work + "/here") == ["x.ptx"], what + ": files in the folder at hand", os.listdir(work + "/here"))
        demand(("compile hit" in said[1]) == hit, what, said[1])
        demand(hit or "cache: none: " in said[1], what + " is not told", said[1])
        demand(not re.search("error|warning", said[1]), what + " is complained of", said[1])
        if why:
            demand(why in said[1], what + " is not told as it is", said[1])
        count("folders")

    for name in ("home", "xdg", "bad"):
        os.makedirs(os.path.join(work, name))
    two("none is named", False, why="none of $GNNC_CACHE_DIR")
    two("$HOME", True, HOME=work + "/home")
    demand(os.path.isdir(work + "/home/.cache/gnnc"), "the folder in $HOME")
    demand(stat.S_IMODE(os.stat(work + "/home/.cache/gnnc").st_mode) == 0o700, "its mode")
    two("$XDG_CACHE_HOME goes first", True, HOME=work + "/home2", XDG_CACHE_HOME=work + "/xdg")
    demand(os.path.isdir(work + "/xdg/gnnc") and not os.path.exists(work + "/home2"), "the folder in $XDG_CACHE_HOME")
    two("$GNNC_CACHE_DIR goes first", True, "deep/er/cache", HOME=work + "/home2", XDG_CACHE_HOME=work + "/xdg2")
    demand(os.path.isdir(work + "/deep/er/cache") and not os.path.exists(work + "/xdg2"), "the folder of $GNNC_CACHE_DIR")
    two("empty variables are none", True, GNNC_CACHE_DIR="", XDG_CACHE_HOME="", HOME=work + "/home")
    two("slashes behind it", True, GNNC_CACHE_DIR=work + "/deep/er/cache//")
    for path in ("cache", ".", "..", "./cache", "/", "//", work + "/.", work + "/deep/.."):
        two("GNNC_CACHE_DIR=%s" % path, False, why="whole path", GNNC_CACHE_DIR=path)
    two("XDG_CACHE_HOME=.", False, why="none of", XDG_CACHE_HOME=".")
    two("XDG_CACHE_HOME=x, and $HOME", True, XDG_CACHE_HOME="x", HOME=work + "/home")
    two("HOME=.", False, why="whole path", HOME=".")
    write("file", "x")
    two("a file", False, "file", why="no folder")
    two("below a file", False, "file/cache", why="no folder")
    os.symlink(work + "/deep/er/cache", work + "/link")
    two("a link", False, "link", why="link")
    two("a link and a slash", False, GNNC_CACHE_DIR=work + "/link/", why="link")
    os.symlink("/nowhere/at/all", work + "/dangling")
    two("a link to nothing", False, "dangling", why="link")
    for mode in (0o755, 0o770, 0o777, 0o701, 0o500):
        os.makedirs(work + "/bad/open", exist_ok=True)
        os.chmod(work + "/bad/open", mode)
        two("mode %o" % mode, False, "bad/open", why="mode is 0%o" % mode)
        demand(not os.listdir(work + "/bad/open"), "something is written to a folder that is open to others")
    two("/proc", False, GNNC_CACHE_DIR="/proc/gnnc")
    two("/dev/null", False, GNNC_CACHE_DIR="/dev/null")
    two("0 bytes", False, "none", GNNC_CACHE_SIZE="0", why="GNNC_CACHE_SIZE is 0")
    demand(not os.path.exists(work + "/none"), "a cache of 0 bytes makes a folder")
    if os.geteuid() == 0:
        os.makedirs(work + "/theirs", mode=0o700)
        os.chown(work + "/theirs", 12345, -1)
        two("another user's", False, "theirs", why="another user's")
        two("another user's home", False, HOME=work + "/theirs", why="not this user's")
        demand(not os.listdir(work + "/theirs"), "something is written to another user's")
        count("root")
    full()


def full():
    """A disk that takes no more: files may have as many bytes as the output, and an entry has more."""
    import resource
    case = ["in.gnn", "-o", "o/x"] + PTX
    right = Compiled(case + ["--no-cache"])
    most = len(right.files["o/x"])
    for n in range(2):
        x = Compiled(case, env=environment("full"), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
        demand(x.same(right) and x.miss, "a full disk", x.cache, x.said)
    left = [n for _, _, names in os.walk(work + "/full") for n in names]
    demand(all(re.fullmatch("[0-9a-f]{64}", n) for n in left), "a full disk leaves drafts", left)
    demand(Compiled(case, env=environment("full")).miss and Compiled(case, env=environment("full")).hit, "when it is no longer full")
    count("folders")


# ---- Limits -------------------------------------------------------------------------------------

def disk(path):
    return -(-os.lstat(path).st_size // 4096) * 4096


def limits():
    """No shard holds more than its share; what was not used for longest goes; what writers left goes."""
    env = environment("small", GNNC_CACHE_SIZE="512K")
    for k in range(60):
        x = Compiled(["in.gnn", "--op=one", "--emit=tensor,plan", "-D", "F=%d" % (k + 1)], env=env)
        demand(x.status == 0 and x.miss, "a compile of many", x.cache)
    kept = entries("small")
    for shard in os.listdir(work + "/small"):
        held = sum(disk(p) for p in kept if os.path.basename(os.path.dirname(p)) == shard)
        demand(held <= 512 * 1024 // 16, "shard %s holds %d bytes" % (shard, held))
    demand(20 < len(kept) < 120, "%d entries are kept" % len(kept))
    count("filled")
    # one shard: junk of several ages, and drafts
    case = ["in.gnn", "--op=one", "--emit=tensor", "-o", "o/x"]
    env = environment("one", GNNC_CACHE_SIZE="1M")   # 16 blocks a shard
    Compiled(case, env=env)
    entry = next(p for p in entries("one") if kind_of(p) == "compile")
    shard, now = os.path.dirname(entry), time.time()

    def put(name, blocks, age):
        path = os.path.join(shard, name)
        with open(path, "wb") as f:
            f.write(bytes(4096 * blocks))
        os.chmod(path, 0o600)
        os.utime(path, (now - age, now - age))
        return path

    blocks = disk(entry) // 4096
    demand(blocks == 1, "an entry of one block", blocks)
    os.remove(entry)
    digit = os.path.basename(shard)
    junk = [put(digit + "%063x" % k, 3, 1000 - k) for k in range(5)]   # 15 blocks: the oldest is the first
    stale, fresh = put("draft-1-1", 1, 4000), put("draft-1-2", 1, 10)
    future = put("draft-1-3", 1, -4000)
    other = put("notes.txt", 9, 90000)
    demand(Compiled(case, env=env).miss and os.path.exists(entry), "the entry is made anew")
    demand(not os.path.exists(stale) and not os.path.exists(future), "what writers left stays")
    demand(os.path.exists(fresh) and os.path.exists(other), "what is not the cache's goes")
    demand([os.path.exists(p) for p in junk] == [False, True, True, True, True], "the oldest goes first", [os.path.exists(p) for p in junk])
    count("evictions")
    # a hit is a use
    os.utime(entry, (now - 5000, now - 5000))
    demand(Compiled(case, env=env).hit and os.stat(entry).st_mtime > now - 100, "a hit is no use")
    count("uses")
    # an entry that is larger than a shard's share is not kept, and one that is there is not read
    big = ["in.gnn", "--op=one", "--emit=simt", "-o", "o/x"]
    env = environment("tiny", GNNC_CACHE_SIZE="64K")   # a block a shard
    for _ in range(2):
        demand(Compiled(big, env=env).miss, "an entry above the share")
    demand([kind_of(p) for p in entries("tiny")] == ["reads"], "an entry above the share is kept")
    count("large")
    for size, bytes_ in (("1048576", 1 << 20), ("1024K", 1 << 20), ("2M", 2 << 20), ("3G", 3 << 30), ("1T", 1 << 40), (None, 1 << 30),
                         ("", 1 << 30), ("1X", 1 << 30), ("-1", 1 << 30), ("1Gi", 1 << 30), ("99999999999T", 1 << 30), ("M", 1 << 30)):
        told = run(["cache"], env=environment("one", GNNC_CACHE_SIZE=size)).stdout.decode()
        demand(re.search(r"^limit +%d$" % bytes_, told, re.M), "GNNC_CACHE_SIZE=%s" % size, told)
        demand(("is no size" in told) == (bytes_ == 1 << 30 and bool(size)), "GNNC_CACHE_SIZE=%s is not told of" % size, told)
        count("sizes")


# ---- Verbs --------------------------------------------------------------------------------------

def verbs():
    """gnnc cache, gnnc cache verify, gnnc cache clear."""
    def cache(*arguments, status=0, **more):
        done = run(["cache"] + list(arguments), **more)
        demand(done.returncode == status, "gnnc cache %s: status %d" % (" ".join(arguments), done.returncode), done.stdout, done.stderr)
        return done.stdout.decode()

    told = cache()
    demand("folder      %s/cache" % work in told and "entries     none" in told and "made by the first compile" in told, "before it is made", told)
    demand(not os.path.exists(work + "/cache"), "it is made by looking")
    for f in (1, 2, 3):
        Compiled(["in.gnn", "-o", "o/x", "-D", "F=%d" % f] + PTX)
    count_, size = len(entries()), sum(disk(p) for p in entries())
    told = cache()
    demand("entries     %d\nbytes       %d\nlimit       1073741824\n" % (count_, size) in told, "what it holds", told)
    for size in (None, "0", "16K"):   # a lower limit makes no entry bad
        demand("removed" not in cache("verify", env=environment(GNNC_CACHE_SIZE=size)), "all are right")
    times = [os.stat(p).st_mtime for p in entries()]
    demand(times == [os.stat(p).st_mtime for p in entries()], "verify is no use")
    bad = entries()[:2]
    flip(bad[0], HEADER + 1)
    sized(bad[1], 20)
    shard = os.path.dirname(bad[0])
    write(shard + "/notes.txt", "kept")
    write(shard + "/draft-7-7", "x")
    os.utime(shard + "/draft-7-7", (1, 1))
    write(shard + "/draft-8-8", "x")
    os.symlink(work + "/in.gnn", shard + "/" + "0" * 64)
    told = cache("verify", status=1)
    for path, why in ((bad[0], "its checksum differs"), (bad[1], "it is too short"), (shard + "/draft-7-7", "a process that is gone"),
                      (shard + "/" + "0" * 64, "it is a link")):
        demand("removed %s: %s" % (os.path.basename(path), why) in told, "verify does not say why", told)
        demand(not os.path.lexists(path), "verify does not remove", path)
    demand("entries     %d" % (count_ - 2) in told and "others      1 files" in told and "drafts      1" in told, "what is left", told)
    demand(os.path.exists(shard + "/notes.txt") and os.path.exists(work + "/in.gnn"), "verify removes what is not its own")
    cache("verify")
    told = cache("clear")
    demand("removed     %d\n" % (count_ - 2 + 1) in told and "entries     0\nbytes       0\n" in told, "clear", told)
    demand(os.path.exists(shard + "/notes.txt") and not entries(), "clear removes its own alone")
    demand(Compiled(["in.gnn", "-o", "o/x"] + PTX).miss, "after clear")
    done = run(["cache", "clera"])
    demand(done.returncode == 2 and b"did you mean 'clear'" in done.stderr and entries(), "a slip of the pen", done.stderr)
    demand(run(["cache", "verify", "clear"]).returncode == 2, "one action at a time")
    os.chmod(work + "/cache", 0o755)
    told = cache("clear")
    demand("0755" in told and entries(), "a folder that is open to others", told)
    count("verbs")


# ---- Faults -------------------------------------------------------------------------------------

def faults():
    """Each call that the cache makes of the system fails once: the compile is right all the same, and leaves no draft."""
    case, log = ["in.gnn", "-o", "o/x", "--op=one", "--emit=tensor"], work + "/log"
    right = Compiled(case + ["--no-cache"])
    Compiled(case)
    shutil.copytree(work + "/cache", work + "/kept")
    states = {"cold": lambda: None, "warm": restore, "crowded": crowd}
    calls = {"open": [24, 13], "mkdir": [13, 28], "openat": [24, 13, 28], "mkdirat": [13, 28], "fstat": [5], "fstatat": [5], "fchmod": [1],
             "fdopendir": [12], "futimens": [1], "read": [5, 4, 0], "write": [28, 4, 0], "close": [5], "renameat": [13, 28],
             "unlinkat": [1]}
    for state, make in states.items():
        for call, errors in calls.items():
            for error in errors:
                for n in range(1, 1000):
                    shutil.rmtree(work + "/cache", ignore_errors=True)
                    make()
                    if os.path.exists(log):
                        os.remove(log)
                    env = environment(LD_PRELOAD=os.path.abspath(sys.argv[4]), FAIL_CALL="%s:%d:%d" % (call, n, error), FAIL_LOG=log,
                                      GNNC_CACHE_SIZE="256K" if state == "crowded" else None)
                    x = Compiled(case, env=env)
                    if not os.path.exists(log) or not os.path.getsize(log):
                        break
                    what = "%s, %s %d, error %d (%s)" % (state, call, n, error, open(log).read().strip())
                    if not (call in ("openat", "mkdirat", "renameat", "unlinkat", "fstatat", "fdopendir", "futimens") or work + "/cache" in open(log).read()):
                        continue   # the compile's own: faults.py
                    demand(x.same(right), what, x.status, x.said)
                    drafts = [f for _, _, files in os.walk(work + "/cache") for f in files if f.startswith("draft-")]
                    demand(not drafts or call == "unlinkat", what + " leaves drafts", drafts)
                    if state != "crowded":
                        demand(run(["cache", "verify"]).returncode == 0, what + " leaves a damaged entry")
                    demand(Compiled(case).same(right), what + ", and once more")
                    count(state)


def crowd():
    """Shards that are full, so that writing an entry removes others: 256 KiB, 4 blocks a shard."""
    for shard in "0123456789abcdef":
        for k in range(4):
            os.chmod(write("cache/%s/%s%063x" % (shard, shard, k), bytes(4096)), 0o600)
        os.chmod(work + "/cache/" + shard, 0o700)
    os.chmod(work + "/cache", 0o700)


if __name__ == "__main__":
    prepare()
    {"hits": hits, "keys": keys, "poison": poison, "folders": folders, "limits": limits, "verbs": verbs, "faults": faults}[part]()
    print("%s: %s" % (part, ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()))))
