#!/usr/bin/env python3
"""Takes ptxas out of NVIDIA's wheel nvidia-cuda-nvcc and puts it into BUILD/bin. Usage: fetch_ptxas.py BUILD

pip fetches the wheel where there is pip, so mirrors and proxies of its configuration count; else PyPI is asked directly.
"""
import glob
import hashlib
import json
import os
import platform
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile

PACKAGE = "nvidia-cuda-nvcc"


def by_pip(folder):
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", folder, PACKAGE]
    return subprocess.call(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0


def by_hand(folder):
    index = "https://pypi.org/pypi/%s/json" % PACKAGE
    with urllib.request.urlopen(index, timeout=30) as answer:
        files = json.load(answer)["urls"]
    machine = platform.machine()
    row = next(f for f in files if f["filename"].endswith(".whl") and "manylinux" in f["filename"] and machine in f["filename"])
    with urllib.request.urlopen(urllib.parse.urljoin(index, row["url"]), timeout=120) as answer:   # mirrors answer relatively
        data = answer.read()
    if hashlib.sha256(data).hexdigest() != row["digests"]["sha256"]:
        sys.exit("%s is damaged" % row["filename"])
    with open(os.path.join(folder, row["filename"]), "wb") as out:
        out.write(data)


def main():
    build = sys.argv[1]
    folder = os.path.join(build, "wheels")
    os.makedirs(folder, exist_ok=True)
    if not by_pip(folder):
        by_hand(folder)
    os.makedirs(os.path.join(build, "bin"), exist_ok=True)
    with zipfile.ZipFile(glob.glob(os.path.join(folder, "*.whl"))[0]) as wheel:
        member = next(n for n in wheel.namelist() if n.endswith("/bin/ptxas"))
        program = os.path.join(build, "bin", "ptxas")
        with open(program, "wb") as out:
            out.write(wheel.read(member))
    os.chmod(program, 0o755)


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError, StopIteration, IndexError) as fault:
        sys.exit("fetch_ptxas: %s" % fault)
