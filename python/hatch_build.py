"""Puts the compiler, the runtime and the libraries they need into the wheel. $GNNC_BUILD is the folder of a build (../build)."""
import os
import platform
import subprocess

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = os.path.dirname(os.path.abspath(__file__))
OF_THE_SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libz.so")


def needed(program):
    """Paths of the shared libraries that a program loads, but for those that every system has."""
    lines = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split("=>")[1].split()[0] for line in lines if "=> /" in line]
    return [path for path in found if not os.path.basename(path).startswith(OF_THE_SYSTEM)]


class Hook(BuildHookInterface):
    def initialize(self, version, build_data):
        build = os.environ.get("GNNC_BUILD", os.path.join(os.path.dirname(HERE), "build"))
        compiler = os.path.join(build, "bin", "gnnc")
        files = {compiler: "gnnc/bin/gnnc", os.path.join(build, "libgnnrt.so"): "gnnc/lib/libgnnrt.so"}
        for path in needed(compiler):
            files[os.path.realpath(path)] = "gnnc/lib/" + os.path.basename(path)
        build_data["force_include"].update(files)
        libc = "_".join(platform.libc_ver()[1].split(".")[:2])
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-manylinux_%s_%s" % (libc, platform.machine())
