#!/usr/bin/env bash
# Installs what a build needs and this machine lacks, through apt-get, and fetches an assembler for cubins where there is
# none. Does nothing, quickly, where all is there. Usage: setup.sh BUILD, or setup.sh BUILD PART: what `fuzz`, `lint` or `tests` need
set -euo pipefail
build=$1 part=${2:-build}
[ -n "${GNNC_NO_SETUP:-}" ] && exit 0

packages="llvm-22-dev llvm-22-tools bison flex ninja-build cmake gcc g++ pkg-config libjansson-dev libsodium-dev libzip-dev zlib1g-dev
libzstd-dev python3 python3-numpy python3-mpmath python3-psutil"
fuzz_packages="clang-22 libclang-rt-22-dev" # of the LLVM that is there anyhow: 16 MB
lint_packages="clang-tidy clang-format-22"
tests_packages="libopenmpi-dev openmpi-bin libmetis5" # of graphs in parts

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

missing() {
    for p in "$@"; do
        dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q 'ok installed' || echo "$p"
    done
}

# On other systems the packages' programs may be there under other names: CMake says what it lacks.
install_packages() { # names
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || return 0
    local want
    want=$(missing "$@")
    [ -z "$want" ] && return 0
    echo "installing" $want
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    as_root apt-get install -y -q --no-install-recommends $want >/dev/null 2>&1 && return 0
    as_root apt-get update -q
    # shellcheck disable=SC2086
    as_root apt-get install -y -q --no-install-recommends $want
}

have_assembler() {
    command -v ptxas >/dev/null && return 0
    [ -x "$build/bin/ptxas" ] || [ -x /usr/local/cuda/bin/ptxas ] && return 0
    ldconfig -p 2>/dev/null | grep -Eq 'libnvJitLink\.so|libcuda\.so\.1' && return 0
    compgen -G '/usr/local/cuda*/lib64/libnvJitLink.so*' >/dev/null
}

# NVIDIA's wheel of its compiler holds ptxas. Without one everything but cubins works, so a failure is no fault.
fetch_assembler() {
    have_assembler && return 0
    [ -e "$build/.no-assembler" ] && return 0
    mkdir -p "$build/bin"
    echo "no assembler for cubins is found: fetching ptxas (nvidia-cuda-nvcc) into $build/bin"
    if python3 scripts/fetch_ptxas.py "$build"; then return 0; fi
    echo "that failed; PTX and --target=host work without it"
    touch "$build/.no-assembler"
}

# Without a clang the corpora are replayed all the same, so a failure is no fault; scripts/fuzz.sh says what was skipped.
install_fuzz_packages() {
    scripts/fuzz.sh "$build" --clang >/dev/null && return 0
    [ -e "$build/.no-fuzz-packages" ] && return 0
    # shellcheck disable=SC2086
    install_packages $fuzz_packages || touch "$build/.no-fuzz-packages"
}

if [ "$part" = fuzz ]; then
    install_fuzz_packages
    exit 0
fi
# Without them those tests are skipped.
if [ "$part" = tests ]; then
    # shellcheck disable=SC2086
    install_packages $tests_packages || true
    exit 0
fi
# Without them scripts/lint.sh and scripts/format.sh say that they are skipped.
if [ "$part" = lint ]; then
    command -v clang-tidy >/dev/null && command -v clang-format-22 >/dev/null ||
        install_packages $lint_packages || true
    exit 0
fi
# shellcheck disable=SC2086
install_packages $packages
fetch_assembler
