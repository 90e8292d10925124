# lit configuration. `make test` runs it through test/run.py; by hand:
#   lit -v --param build=build test/frontend
# A .c file here is a program of its own, built by CMake as build/bin/unit/FOLDER-NAME; it passes by returning 0.
import os
import sys

import lit.util

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build")))
llvm_bin = os.environ.get("GNNC_LLVM_BIN", "/usr/lib/llvm-22/bin")


config.name = "gnnc"
sys.path.insert(0, os.path.join(root, "test"))
from unit_format import UnitFormat  # a module of its own: lit hands it to its workers

config.test_format = UnitFormat(root, build)
config.suffixes = [".gnn", ".tensor", ".loop", ".simt", ".test", ".c"]
config.excludes = ["Inputs", "data", "fuzz", "schedules"]
config.test_source_root = os.path.join(root, "test")
config.test_exec_root = os.path.join(build, "test")

gnnc = os.path.join(build, "bin", "gnnc")
counted = bool(lit_config.params.get("coverage"))   # make coverage
sanitized = bool(lit_config.params.get("sanitized")) or counted   # slow, and not to be linked with plain programs
config.substitutions += [
    ("%gnnc", gnnc),
    ("%expect", "%s %s/test/expect.py %s" % (sys.executable, root, gnnc)),
    ("%python", sys.executable),
    ("%root", root),
    ("%build", build),
    ("%cases", "60" if counted else "30" if sanitized else "70"),   # random ones, of a part of the differential tester's
    ("%data", os.path.join(root, "test", "data")),
    # What libgnnrt.a asks for; before it, what libgnnrt_io.a does.
    ("%runtime_libs", "-lz -lpthread -ldl" + (" --coverage" if counted else " -fsanitize=address,undefined" if sanitized else "")),
]
config.environment["PATH"] = llvm_bin + os.pathsep + os.environ.get("PATH", "")
for name in ("TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "CUDA_VISIBLE_DEVICES", "FUZZ_CLANG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["NO_COLOR"] = "1"
config.environment["GNNC_CACHE_SIZE"] = "0"   # what is cached is not compiled, and a fault of today would not be seen

# What a test may ask for: REQUIRES: assembler, gpu, numpy, mpmath, torch, torch_geometric, tvm_ffi, jax_tvm_ffi, mpi, valgrind, clang-format-22, clang-tidy, gcov, libfuzzer.
doctor = lit.util.executeCommand([gnnc, "doctor"])[0] if os.path.exists(gnnc) else ""
if "assembler   none" not in doctor and "assembler" in doctor:
    config.available_features.add("assembler")
if "GPU" in doctor and "GPU         none" not in doctor:
    config.available_features.add("gpu")
for module in ("numpy", "mpmath", "torch", "torch_geometric", "tvm_ffi", "jax_tvm_ffi"):
    if not lit.util.executeCommand([sys.executable, "-c", "import " + module])[2]:
        config.available_features.add(module)
for program in ("clang-format-22", "clang-tidy", "gcov", "valgrind"):
    if lit.util.which(program):
        config.available_features.add(program)
config.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                          GLOO_SOCKET_IFNAME="lo")   # processes of MPI and of gloo, all on this machine
if lit.util.which("mpicc") and lit.util.which("mpirun") and \
        not lit.util.executeCommand(["timeout", "30", "mpirun", "-n", "2", "true"], env={**os.environ, **config.environment})[2]:
    config.available_features.add("mpi")
if not sanitized and not lit.util.executeCommand([os.path.join(root, "scripts", "fuzz.sh"), build, "--clang"])[2]:
    config.available_features.add("libfuzzer")
if sanitized:   # plain programs do not link such libraries
    config.available_features.add("sanitized")
config.substitutions.append(("%readme_application", "no-application" if sanitized else ""))
