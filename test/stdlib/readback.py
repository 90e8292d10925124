"""Whether the tensor text and the loop text of an op have all that its kernels follow from: read back, each gives the SIMT text
that the source does. All ops of the library and their gradients. Usage: readback.py GNNC FOLDER [FILE …]"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(ROOT, "stdlib")
SCHEDULED = {"rgcn_f32"}   # by schedules of the file, which tensor IR has not


def compiled(gnnc, source, forms, out):
    done = subprocess.run([gnnc, source, "--emit=" + forms, "--arch=sm_90a", "-o", out], capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr.strip()[:300]


def text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def faults_of(gnnc, folder, name, form):
    again = os.path.join(folder, name + ".again.simt")
    refused = compiled(gnnc, os.path.join(folder, name + "." + form), "simt", again)
    if refused:
        return ["%s: its %s text is refused: %s" % (name, form, refused)]
    same = text(again) == text(os.path.join(folder, name + ".simt"))
    return [] if same else ["%s: its %s text gives other kernels" % (name, form)]


def main():
    gnnc, out = sys.argv[1:3]
    files = sys.argv[3:] or [os.path.join(LIBRARY, f) for f in sorted(os.listdir(LIBRARY)) if f.endswith(".gnn") and f != "prelude.gnn"]
    faults, read = [], 0
    for source in files:
        folder = os.path.join(out, os.path.basename(source))
        os.makedirs(folder, exist_ok=True)
        refused = compiled(gnnc, source, "tensor,loop,simt", folder + "/")
        faults += ["%s: %s" % (source, refused)] if refused else []
        for name in sorted(f[:-7] for f in os.listdir(folder) if f.endswith(".tensor")):
            for form in ("loop",) if name in SCHEDULED else ("tensor", "loop"):
                faults += faults_of(gnnc, folder, name, form)
                read += 1
    print("\n".join(faults + ["%d texts, %d of them unfaithful" % (read, len(faults))]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
