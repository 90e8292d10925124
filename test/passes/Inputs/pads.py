"""Runs the padded schedules of a file with extents around multiples, in all types and layouts; prints what failed."""
import itertools
import subprocess
import sys

gnnc, file = sys.argv[1:]
cases = [("hidden", "F", s) for s in ("padded", "host")] + \
        [("scores", "D", s) for s in ("padded", "scalar", "apart", "shared", "held", "cut", "host")]
runs = 0
for op, space, schedule in cases:
    target = "host" if schedule == "host" else "sim"
    extents = [1, 7, 41] if schedule in ("held", "shared") else [0, 1, 7, 9, 33]
    types = ["f32", "f16"] if schedule != "padded" else ["f32", "f16", "bf16", "f64"]
    for extent, (t, layout) in itertools.product(extents, [(t, l) for t in types for l in ("packed", "strided")] + [("f32", "misaligned")]):
        command = [gnnc, "run", file, "--op", op, "--schedule=" + schedule, "--target=" + target, "--graph=er:9:30", "--check", "--all-plans",
                   "-D", "%s=%d" % (space, extent), "-D", "T=" + t, "--layout=" + layout, "-Wno-unused-option"]
        done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        named = [line for line in done.stdout.splitlines() if " %s " % schedule in line]
        if done.returncode or not named or (layout != "misaligned" and any("unfit" in line for line in named)):
            print("failed: " + " ".join(command) + "\n" + done.stdout + done.stderr)
print("%d runs" % runs)
