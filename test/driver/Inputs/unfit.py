"""unfit.py GNNC FOLDER: options that have no effect on what they are given with are refused (E0831), by their kind of input.

Each row below is a verb, an option, the kinds of input it is refused for, and what the message says. Kinds of no row take it.
"""
import os
import subprocess
import sys

SOURCE = "op copy(src: E -> U, x: f32[U, F]) -> (y: f32[E, F]) {\n    y[e, f] = x[src[e], f];\n}\n"
ROWS = [line.split(None, 3) for line in """
compile -DF=8            .tensor,.loop,.simt  its sizes and types are given
inspect -DF=8            .tensor,.loop,.simt  its sizes and types are given
run     -DF=8            .tensor,.loop,.simt  its sizes and types are given
compile --schedule=s     .tensor              schedules stand in .gnn sources
compile --schedule=s     .loop                its schedule is built in
run     --schedule=s     .loop                its schedule is built in
run     --schedule=s     .tensor              schedules stand in .gnn sources
run     --schedule=s     .simt                its kernels are made
compile --schedule=s     .simt                its kernels are made
compile --no-schedule    .loop                its schedule is built in
compile --no-schedule    .simt                its kernels are made
compile --suffix=_2      .simt                it has kernels, and no ops
compile --index=64       .simt                its kernels are made
compile --block-size=64  .simt                its kernels are made
compile --no-deterministic .simt              its kernels are made
compile --print-after=lower .simt             no pass runs
compile --no-verify      .simt                no pass runs
compile --passes=counts  .simt                no pass runs
compile --load-simt=x    .simt                it has kernels, and no ops
compile --load-ptx=x     .simt                it has kernels, and no ops
check   --grad           .tensor,.loop        it does not say of which op it is a gradient
check   --grad           .simt                it has kernels, and no ops
run     --blocks=2       .gnn,.tensor,.loop   launches of its ops say how many
run     --arch=sm_80     .simt                the simulator
run     -O1              .simt                the simulator
run     --no-lineinfo    .simt                the simulator
run     --device=h100    .simt                the simulator
run     --resource-usage .simt                the simulator
run     --graph=er:9:30  .simt                it has kernels, and no ops
run     --graph-format=edges .simt            it has kernels, and no ops
run     --graph-base=1   .simt                it has kernels, and no ops
run     --graph-compact  .simt                it has kernels, and no ops
run     --graph-memory=9 .simt                it has kernels, and no ops
run     --size=F=8       .simt                it has kernels, and no ops
run     --check          .simt                it has kernels, and no ops
run     --check-budget=9 .simt                it has kernels, and no ops
run     --accept-overflow .simt               it has kernels, and no ops
run     --plan=naive     .simt                it has kernels, and no ops
run     --all-plans      .simt                it has kernels, and no ops
run     --all-levels     .simt                the simulator
run     --metamorphic    .simt                it has kernels, and no ops
run     --repeat=3       .simt                it has kernels, and no ops
run     --identical=3    .simt                it has kernels, and no ops
run     --layout=strided .simt                it has kernels, and no ops
run     --values=special .simt                it has kernels, and no ops
run     --edges=mixed    .simt                it has kernels, and no ops
run     --inplace        .simt                it has kernels, and no ops
run     --pack=p         .simt                it has kernels, and no ops
run     --seed=3         .simt                it has kernels, and no ops
""".strip().split("\n")]
# What is taken, and seen in what comes out.
TAKEN = [line.split() for line in """
.tensor --no-schedule
.tensor --block-size=64
.tensor --index=64
.tensor --suffix=_2
.loop   --block-size=64
.loop   --index=64
.loop   --suffix=_2
.simt   -O0
""".strip().split("\n")]
FORMS = {".tensor": "simt,plan", ".loop": "simt,plan", ".simt": "llvm"}
KINDS = [".gnn", ".tensor", ".loop", ".simt"]
NAMES = {"-DF=8": "--define", "-O1": "--optimise", "--no-deterministic": "--deterministic", "--no-verify": "--verify",
         "--no-lineinfo": "--lineinfo"}
WORDS = {"compile": [], "run": ["--target=sim"], "check": [], "inspect": []}


def call(gnnc, *words):
    done = subprocess.run([gnnc, *words], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def reasons():
    """Of each verb and option: why a kind of input is refused."""
    by = {}
    for verb, option, kinds, why in ROWS:
        by.setdefault((verb, option), {}).update(dict.fromkeys(kinds.split(","), why))
    return by


def is_wrong(gnnc, verb, option, kind, why):
    status, _, told = call(gnnc, verb, "copy" + kind, option, *WORDS[verb])
    said = "error[E0831]: %s has no effect on 'copy%s': %s" % (NAMES.get(option, option.split("=")[0]), kind, why)
    good = status == 2 and said in told and "= help: " in told if why else "E0831" not in told
    if not good:
        print("%s %s %s: status %d\n%s" % (verb, option, kind, status, told))
    return not good


def check_taken(gnnc, kind, option):
    words = ["copy" + kind, "--emit=" + FORMS[kind], "-o", "-"]
    same = call(gnnc, *words)[1] == call(gnnc, *words, option)[1]
    if same:
        print("%s of %s changes nothing" % (option, kind))
    return same


def main(gnnc, folder):
    os.chdir(folder)
    with open("copy.gnn", "w") as out:
        out.write(SOURCE)
    for form in "tensor", "loop", "simt":
        assert call(gnnc, "copy.gnn", "--emit=" + form, "-o", "copy." + form)[0] == 0
    bad = sum(is_wrong(gnnc, *of, kind, why.get(kind)) for of, why in reasons().items() for kind in KINDS)
    bad += sum(check_taken(gnnc, *row) for row in TAKEN)
    print("%d rows, %d wrong" % (len(ROWS) + len(TAKEN), bad))


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]), sys.argv[2])
