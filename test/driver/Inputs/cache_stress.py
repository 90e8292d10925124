"""cache_stress.py GNNC FOLDER --rounds=N --processes=16 --seed=S: many compiles at once on one small cache, some of them killed at random.

Each round starts the processes on sources drawn from a few, and kills some by SIGKILL at a moment drawn, too. No compile that is left
alone may fail, each output is what a compile without a cache writes, and in the end no entry is damaged."""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gnnc")
    parser.add_argument("folder")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--processes", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    o = parser.parse_args()
    draw, gnnc, work = random.Random(o.seed), os.path.abspath(o.gnnc), os.path.abspath(o.folder)
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work)
    shutil.copy(os.path.dirname(os.path.abspath(__file__)) + "/copy.gnn", work + "/in.gnn")
    form = "ptx" if b"assembler   none" in subprocess.run([gnnc, "doctor"], stdout=subprocess.PIPE).stdout else "cubin"
    # 16 entries of 12 KiB and their small ones: more than 512 KiB hold for long, in shards of 32
    env = dict(os.environ, GNNC_CACHE_DIR=work + "/cache", GNNC_CACHE_SIZE="512K")
    commands = [["in.gnn", "--op=" + op, "--no-schedule", level, "-arch", arch, "--emit=" + form]
                for op in ("one", "two") for level in ("-O0", "-O1") for arch in ("sm_80", "sm_86", "sm_89", "sm_90a")]
    right = []
    for c in commands:
        subprocess.run([gnnc] + c + ["--no-cache", "-o", "right"], cwd=work, env=env, check=True)
        right.append(open(work + "/right", "rb").read())
    compiles = kills = ended = 0
    for r in range(o.rounds):
        started, began = [], time.monotonic()
        if draw.random() < 0.4:
            subprocess.run([gnnc, "cache", "clear"], env=env, check=True, stdout=subprocess.DEVNULL)
        for k in range(o.processes):
            c, out = draw.randrange(len(commands)), "%s/out%d" % (work, k)
            if os.path.exists(out):
                os.remove(out)
            p = subprocess.Popen([gnnc] + commands[c] + ["-o", out], cwd=work, env=env, stderr=subprocess.PIPE)
            started.append([p, c, out, draw.uniform(0, 0.12) if draw.random() < 0.4 else None])
        for p, _, _, when in sorted((s for s in started if s[3] is not None), key=lambda s: s[3]):
            time.sleep(max(0, began + when - time.monotonic()))
            p.send_signal(signal.SIGKILL)
            kills += 1
        for p, c, out, when in started:
            said = p.communicate(timeout=120)[1]
            compiles += 1
            killed = when is not None and p.returncode == -signal.SIGKILL
            ended += killed
            if p.returncode and not killed:
                sys.exit("round %d: status %d of %s\n%s" % (r, p.returncode, commands[c], said.decode()))
            if os.path.exists(out) and open(out, "rb").read() != right[c] or not killed and not os.path.exists(out):
                sys.exit("round %d: a wrong output of %s" % (r, commands[c]))
            if said:
                sys.exit("round %d: %s" % (r, said.decode()))
    for place, _, names in os.walk(work + "/cache"):   # what those that were killed have left, as if an hour had passed
        for name in names:
            if name.startswith("draft-"):
                os.utime(os.path.join(place, name), (1, 1))
    verify = subprocess.run([gnnc, "cache", "verify"], env=env, stdout=subprocess.PIPE)
    told = verify.stdout.decode()
    damaged = [line for line in told.splitlines() if line.startswith("removed ") and " draft-" not in line]
    if damaged or "drafts" in told:
        sys.exit("damaged entries:\n" + told)
    print("%d rounds: %d compiles, %d killed at work of %d, 0 failed, 0 wrong, 0 entries damaged" % (o.rounds, compiles, ended, kills))


if __name__ == "__main__":
    main()
