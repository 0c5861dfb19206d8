#!/bin/sh
# Builds the keeper of containers: static, since it works inside of any image; always the same bytes for
# the same compiler.
#
#     keeper/build.sh [TARGET]        default: build/keeper
set -eu

here=$(dirname "$(readlink -f "$0")")
target=${1:-$here/../build/keeper}
mkdir -p "$(dirname "$target")"
draft=$target.$$
trap 'rm -f "$draft"' EXIT

"${CC:-gcc}" -std=gnu11 -static -Os -s -Wall -Wextra -Werror -fstack-protector-strong \
    -Wl,--build-id=none -Wl,-z,relro,-z,now -ffile-prefix-map="$here=." \
    -o "$draft" "$here"/main.c "$here"/run.c "$here"/log.c "$here"/input.c "$here"/place.c \
    "$here"/furnish.c "$here"/enter.c "$here"/join.c
mv "$draft" "$target"
