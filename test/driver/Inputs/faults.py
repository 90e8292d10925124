"""faults.py GNNC LIBRARY FOLDER SESSION...: fails each call a session makes once, by test/support/Inputs/fail_call.c.

Whatever fails, gnnc ends with status 0 and everything right, or with status 3 and a message with the reason; each output is
whole or as it was, and no other file is there."""
import errno
import os
import re
import shutil
import subprocess
import sys
import zipfile
import zlib

gnnc, library, work = [os.path.abspath(p) for p in sys.argv[1:4]]
here = os.path.dirname(os.path.abspath(__file__))
LOG = work + ".log"
MEMORY = "malloc,calloc,realloc,aligned_alloc"
# What each call fails with. 0: it does half of what it was asked to.
FAULTS = {"open": [errno.EMFILE], "stat": [errno.EACCES], "lstat": [errno.EACCES], "fstat": [errno.EIO], "fchmod": [errno.EPERM],
          "mkdir": [errno.EACCES], "mkdtemp": [errno.EACCES], "mkostemp": [errno.ENOSPC], "rename": [errno.EACCES],
          "unlink": [errno.EPERM], "rmdir": [errno.EPERM], "realpath": [errno.EACCES], "lseek": [errno.EIO], "dup": [errno.EMFILE],
          "memfd_create": [errno.ENOMEM], "pipe2": [errno.EMFILE], "read": [errno.EIO, errno.EINTR, 0],
          "pread": [errno.EIO, errno.EINTR, 0], "write": [errno.ENOSPC, errno.EINTR, 0], "close": [errno.EIO],
          "fopen": [errno.EMFILE], "fread": [errno.EIO], "fwrite": [errno.ENOSPC], "fputs": [errno.ENOSPC],
          "fflush": [errno.ENOSPC], "fclose": [errno.ENOSPC], "fork": [errno.EAGAIN], "wait": [errno.ECHILD, errno.EINTR],
          "waitpid": [errno.ECHILD, errno.EINTR], "posix_spawn": [errno.EAGAIN], "posix_spawn_file_actions_init": [errno.ENOMEM],
          "posix_spawn_file_actions_adddup2": [errno.ENOMEM], "pthread_create": [errno.EAGAIN], "thrd_create": [errno.EAGAIN],
          "dlopen": [errno.ENOENT], "mmap": [errno.ENOMEM], "mprotect": [errno.ENOMEM],
          MEMORY: [errno.ENOMEM]}
SESSIONS = {
    "compile": ("in.gnn --op one --emit=simt,manifest -o o/x.simt -MD",
                "open stat fstat fchmod mkostemp rename realpath read write close"),
    "print": ("in.gnn --op one --emit=simt", "write"),
    "input": ("check -", "dup fstat read"),
    "device": ("in.gnn --op one --emit=simt -o /dev/stdout", "stat open write close"),
    "format": ("fmt -i in.gnn", "open stat mkostemp write rename"),
    "help": ("--help", "write"),
    "arrays": ("run in.gnn --op one --target=sim --check --graph g.npz --param x=x.npy -D F=2 --out o/out",
               "open fstat pread lstat mkdir fopen fwrite fclose rename"),
    "inspect": ("inspect g.npz e.txt", "open fstat write"),
    "pack": ("run in.gnn --op one --target=sim --graph er:5:9 --pack=o/x.pack", "open mkostemp write rename"),
    "host": ("run in.gnn --op one -O0 --no-schedule --target=host --check --graph er:5:9", "mmap mprotect dlopen pthread_create fflush"),
    "cubin": ("in.gnn --op one -O0 --no-schedule -o o/x.cubin",
              "memfd_create pipe2 posix_spawn posix_spawn_file_actions_init posix_spawn_file_actions_adddup2 fstat lseek read write "
              "waitpid close"),
    "parts": ("parts.gnn -O0 --emit=ptx -o o/", "thrd_create"),
    "test": ("test in.gnn --op one --cases=3 --jobs=1 --target=sim",
             "mkdtemp fopen fputs fclose memfd_create fork wait fstat pread rmdir unlink fflush"),
    "tests": ("test in.gnn --op one --cases=3 --jobs=2 --target=sim --pack=o/x.pack",
              "open fork wait fopen fread fwrite fclose rename"),
    "memory": ("in.gnn --op one --target=host --emit=asm -o o/x.s", MEMORY),
    "memory_run": ("run in.gnn --op one --target=sim --check --graph g.npz --param x=x.npy -D F=2 --out o/out", MEMORY),
    "memory_pack": ("run in.gnn --op one --target=sim --graph er:5:9 --pack=o/x.pack", MEMORY),
    "memory_bench": ("bench in.gnn --op one --target=host --graph er:5:9 --repeat=1 --json --bandwidth=9", MEMORY),
}


def npy(values, kind, size):
    head = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (kind, size)).ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00\x76\x00" + head.encode() + values


def integers(values):
    return npy(b"".join(v.to_bytes(8, "little") for v in values), "<i8", "%d," % len(values))


def prepare(session):
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(work + "/tmp")
    os.makedirs(work + "/o")
    shutil.copy(here + "/copy.gnn", work + "/in.gnn")
    if session == "format":
        open(work + "/in.gnn", "a").write("op  three(a: f32[N])->(y: f32[N]) { y[n] = a[n]; }\n")
    with zipfile.ZipFile(work + "/g.npz", "w") as z:
        z.writestr(zipfile.ZipInfo("rowptr.npy"), integers([0, 2, 3, 3]))
        z.writestr(zipfile.ZipInfo("col.npy"), integers([1, 2, 0]))
    open(work + "/x.npy", "wb").write(npy(bytes(24), "<f4", "3, 2"))
    open(work + "/e.txt", "w").write("0 1\n2 0\n")
    open(work + "/parts.gnn", "w").write("op long(x: f32[N, F]) -> (y: f32[N, F]) {\n" + "".join(
        "    t%d[n] = sum{f} x[n, f] * %d;\n" % (k, k) for k in range(1, 9)) + "    y[n, f] = x[n, f]" + "".join(
        " + t%d[n]" % k for k in range(1, 9)) + ";\n}\n")
    open(work + "/ptxas", "w").write("#!/bin/sh\ncat\n")
    os.chmod(work + "/ptxas", 0o755)
    for name in ("x.simt", "x.cubin", "x.pack", "x.s"):
        open(work + "/o/" + name, "w").write("old\n")


def contents(path):
    """Of a file; of a pack, which holds names of temporary files, how many runs it has."""
    data = open(path, "rb").read()
    if not path.endswith(".pack") or data == b"old\n":
        return data
    members = 0
    while data:
        z = zlib.decompressobj(31)
        z.decompress(data)
        if not z.eof:
            return b"cut"
        data = z.unused_data
        members += 1
    return b"%d members" % members


def files():
    found = {}
    for folder, _, names in os.walk(work):
        for name in names:
            path = os.path.join(folder, name)
            found[os.path.relpath(path, work)] = contents(path)
    return found


def run(session, fault):
    prepare(session)
    if os.path.exists(LOG):
        os.remove(LOG)
    env = dict(os.environ, LD_PRELOAD=library, FAIL_LOG=LOG, TMPDIR=work + "/tmp", GNNC_PTXAS=work + "/ptxas",
               FAIL_CALL=fault or "none:1:1")
    before = files()
    with open(work + "/in.gnn") as text:
        p = subprocess.run([gnnc] + SESSIONS[session][0].split(), cwd=work, env=env, stdin=text, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=100)
    # Times differ.
    out = re.sub(rb"[0-9.]+ +(us|ms|s)\b|_ms\":[-0-9.e]+|share\":[-0-9.e]+|[0-9]+ bytes", b"T", re.sub(rb" +", b" ", p.stdout))
    log = open(LOG).read().strip() if os.path.exists(LOG) else ""
    return p.returncode, out, p.stderr.decode(errors="replace"), log, before, files()


def fault_of(session, error, reference, result):
    status, out, err, log, before, after = result
    call = log.split()[0]
    left = [f for f in after if f.startswith("tmp/") or (f not in before and f not in reference[5])]
    if left and call not in ("unlink", "rmdir"):
        return "leaves %s" % left
    for f, text in after.items():
        if f.startswith("o/") and text not in (before.get(f), reference[5].get(f)):
            return "half of " + f
    if status == 0:
        wrong = [f for f in reference[5] if after.get(f) != reference[5][f]]
        return "ends well without " + str(wrong) if wrong else "" if out == reference[1] else "ends well, but prints " + out.decode()
    if status != 3 or error in (0, errno.EINTR):
        return "ends with status %d" % status
    reason = "memory|Malloc" if error == errno.ENOMEM else os.strerror(error)
    if not re.search(reason, err) and call != "dlopen" and not re.search("threads cannot be started", err):
        return "does not say why"
    about = re.sub(r"\.[A-Za-z0-9]{6}$|\.[0-9]+\.part$|\.part$", "", log.split()[-1])
    if session == "input" and about.endswith("/in.gnn"):
        about = "-"   # the standard input has no name of its own
    if call in ("open", "fopen", "fstat", "read", "pread", "mkostemp", "mkdir", "rename") and "memfd" not in log \
            and work + "/tmp/" not in about and "pipe:" not in about and os.path.basename(about) not in err:
        return "does not name " + about
    return ""


def numbers(call, on):
    """All of them; of memory a sample, which grows thinner."""
    n = 1
    while True:
        yield n
        n += 1 if call != MEMORY else 1 + n // 2


def main():
    failed = wrong = 0
    for session in sys.argv[4:]:
        reference, count = run(session, None), 0
        assert reference[0] == 0, reference[2]
        kinds = [(call, error, on) for call in SESSIONS[session][1].split() for error in FAULTS[call]
                 for on in (["", ":on"] if call == MEMORY else [""])]
        for call, error, on in kinds:
            for n in numbers(call, on):
                result = run(session, "%s:%d:%d%s" % (call, n, error, on))
                if not result[3]:
                    break
                count += 1
                if re.match("(fwrite|fflush) 2 ", result[3]):   # diagnostics of which nobody can be told
                    continue
                fault = fault_of(session, error, reference, result)
                if fault:
                    wrong += 1
                    print("%s: %s %d, error %d%s (%s): %s\n    %s" % (session, call, n, error, on, result[3], fault,
                                                                  result[2].replace("\n", "\n    ")))
        print("%s: %d calls failed" % (session, count))
        assert count
        failed += count
    shutil.rmtree(work)
    print("%d calls failed, %d wrong" % (failed, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
