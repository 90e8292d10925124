"""Whether builds are alike byte for byte, whatever there is around them: the time of the source, the folder, the user, locale, time zone,
environment, umask, processors and -j.

builds.py GNNC FOLDER COUNT
"""
import hashlib
import os
import random
import shutil
import subprocess
import sys

SOURCE = """op one<T>(src: E -> N, dst: E -> N sorted, w: T[E], x: T[N, F]) -> (y: T[N, F]) {
    y[v, f] = sum{e : dst[e] == v} w[e] * x[src[e], f];
}
op two<T>(x: T[N, K], w: T[K, F]) -> (y: T[N, F]) { y[n, f] = sum{k} x[n, k] * w[k, f]; }
"""
FILES = ("one.o", "one.h", "one.cubin", "one.json")
LOCALES = ("C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "zh_CN.GB18030")
ZONES = ("UTC", "Asia/Tokyo", "America/St_Johns")


def digests(folder):
    return [hashlib.sha256(open(os.path.join(folder, f), "rb").read()).hexdigest() for f in FILES]


def open_to_all(path):
    """Whether any user may go there."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def build(gnnc, folder, draw):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "in.gnn"), "w") as f:
        f.write(SOURCE)
    then = draw.randrange(1, 4_000_000_000)
    os.utime(os.path.join(folder, "in.gnn"), (then, then))
    os.chmod(folder, 0o777)
    other = os.geteuid() == 0 and open_to_all(folder) and open_to_all(gnnc)
    user = draw.choice((0, 65534)) if other else None
    env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": draw.choice(LOCALES), "TZ": draw.choice(ZONES), "HOME": draw.choice(("/", folder)),
           "GNNC_CACHE_SIZE": "0", "NOISE": "x" * draw.randrange(5000)}
    processors = sorted(os.sched_getaffinity(0))
    taken, mask = draw.sample(processors, draw.randint(1, len(processors))), draw.choice((0o022, 0o077, 0))

    def begin():
        os.sched_setaffinity(0, taken)
        os.umask(mask)
        if user:
            os.setgid(user)
            os.setuid(user)

    common = [gnnc, "in.gnn", "-DT=f32", "-ffile-prefix-map=" + folder + "=."]
    for more in (["--target=cuda,host", "--arch=sm_80", "--arch=sm_90a", "--emit=obj,header", "-j%d" % draw.randint(1, 4), "-o", "one.o"],
                 ["--op=one", "--arch=sm_90a", "--emit=cubin,manifest", "-o", "one.cubin"]):
        done = subprocess.run(common + more, cwd=folder, env=env, preexec_fn=begin, capture_output=True, text=True)
        if done.returncode:
            sys.exit("a build fails: %s\n%s" % (" ".join(more), done.stderr))


def main():
    gnnc, work, count = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    draw, first = random.Random(1), None
    for n in range(count):
        folder = os.path.join(work, draw.choice(("a", "b/c", "with space", "x" * 90)))
        build(gnnc, folder, draw)
        has = digests(folder)
        first = first or has
        for f, a, b in zip(FILES, first, has):
            if a != b:
                sys.exit("build %d: %s differs from that of the first" % (n + 1, f))
    print("%d builds of %d files alike" % (count, len(FILES)))


main()
