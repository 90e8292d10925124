#!/usr/bin/env bash
# clang-tidy over gnnc's C sources, by the checks of .clang-tidy: any finding fails. Half a minute on two processors.
# cppcheck 2.10 takes four times as long, and of the 36 faults it tells of the ten that were read are none: calls that do not return confuse it.
# Usage: lint.sh BUILD [FILE...]; without files, all sources. BUILD has the parser's header.
set -euo pipefail
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."

tidy=${CLANG_TIDY:-}
for name in clang-tidy clang-tidy-22 clang-tidy-19 clang-tidy-14; do
    [ -n "$tidy" ] || tidy=$(command -v $name || true)
done
if [ -z "$tidy" ]; then
    echo "lint: skipped, as there is no clang-tidy"
    exit 0
fi

# clang 14, which Debian 12 has, knows no _Float16 on x86.
flags=(-std=gnu11 -I. -Iir -Ifrontend -Iruntime -Ipasses "-I$build" -isystem /usr/lib/llvm-22/include -D_Float16=float
    '-DGNNC_VERSION=""' '-DGNNC_LLVM_VERSION=""')
if [ $# = 0 ]; then
    mapfile -t files < <(find autodiff codegen driver frontend ir passes runtime testing -name '*.c' | sort)
else
    files=("$@")
fi

# What it counts and suppresses is nobody's concern. A file that does not compile is a finding.
export tidy
export flags_text="${flags[*]@Q}"
printf '%s\0' "${files[@]}" | xargs -0 -n 16 -P "$(nproc)" bash -c 'eval "flags=($flags_text)"
    "$tidy" --quiet "$@" -- "${flags[@]}" 2>/dev/null' lint || {
    echo "lint: what is above is to be mended, or suppressed with its reason: // NOLINT(check): why"
    exit 1
}
echo "lint: ${#files[@]} sources, nothing found"
