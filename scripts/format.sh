#!/usr/bin/env bash
# One style for all C (.clang-format): writes it, or with --check fails where a file differs. Three seconds.
# Tables that are laid out by hand stand between `clang-format off` and `on`.
# Usage: format.sh [--check] [FILE...]; without files, all of the tree. Other versions break lines otherwise.
set -euo pipefail
style=(-i)
[ "${1:-}" = --check ] && style=(--dry-run --Werror) && shift
[ $# = 0 ] || mapfile -t files < <(realpath -- "$@")
cd "$(dirname "$0")/.."
format=${CLANG_FORMAT:-clang-format-22}
if ! command -v "$format" >/dev/null; then
    echo "format: skipped, as there is no clang-format-22"
    exit 0
fi
if [ $# = 0 ]; then
    mapfile -t files < <(find autodiff bench codegen driver examples frontend ir passes runtime test testing \
        -name '*.[ch]' | sort)
fi
printf '%s\0' "${files[@]}" | xargs -0 -n 40 -P "$(nproc)" "$format" "${style[@]}" || {
    echo "format: \`make format\` writes what is above in the tree's style"
    exit 1
}
