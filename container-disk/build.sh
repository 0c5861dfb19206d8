#!/bin/sh
# Builds the helper for container disks: static, since it runs where there is no libc; always the same
# bytes for the same compiler.
#
#     container-disk/build.sh [TARGET]        default: build/container-disk
set -eu

here=$(dirname "$(readlink -f "$0")")
target=${1:-$here/../build/container-disk}
mkdir -p "$(dirname "$target")"
draft=$target.$$
trap 'rm -f "$draft"' EXIT

"${CC:-gcc}" -std=gnu11 -static -Os -s -Wall -Wextra -Werror -fstack-protector-strong \
    -Wl,--build-id=none -Wl,-z,relro,-z,now -ffile-prefix-map="$here=." \
    -o "$draft" "$here/container-disk.c"
mv "$draft" "$target"
