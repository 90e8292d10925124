#!/usr/bin/env python3
"""Makes sources and objects: a ring of 13, one of 12, exports that nothing, a test or a public header uses, and an object
without a source. Usage: bad_build.py ROOT BUILD"""
import os
import subprocess
import sys

root, build = sys.argv[1:]


def write(path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def compile_source(path, text):
    object_file = os.path.join(build, "CMakeFiles", "gnnc_ir.dir", path + ".o")
    os.makedirs(os.path.dirname(object_file), exist_ok=True)
    subprocess.run(["cc", "-c", write(path, text), "-o", object_file], check=True)


for folder, size in (("ir", 13), ("passes", 12)):
    for i in range(size):
        to = "%s%d" % (folder, (i + 1) % size)
        compile_source("%s/%s%d.c" % (folder, folder, i), "void %s(void); void %s%d(void) { %s(); }\n" % (to, folder, i, to))
compile_source("ir/exports.c", "int dead, tested, gnn_public; static int hidden; int *f(void) { return &hidden; }\n")
compile_source("ir/user.c", "int *f(void); int main(void) { return *f(); }\n")
compile_source("ir/gone.c", "int left_over;\n")
os.remove(os.path.join(root, "ir/gone.c"))
write("test/uses.c", "extern int tested;\n")
write("runtime/gnnrt.h", "extern int gnn_public;\n")
write("runtime/gnnrt_io.h", "")
write("runtime/gnnrt_ffi.h", "")
