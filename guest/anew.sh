#!/bin/sh
# Builds everything about the guest a second time, kernel included, in a cache of its own: it must be the same, byte for byte.
set -eu
cd "$(dirname "$0")/.."
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
one=$(guest/build.sh --quiet)
two=$(KUBEVIRT_CACHE=$cache guest/build.sh --quiet)
[ "$one" != "$two" ] || { echo "guest: nothing was built anew" >&2; exit 1; }
cmp "$one/sums.json" "$two/sums.json"
echo "guest: built anew in $cache, and equal: $(tr -d '\n' <"$two/sums.json" | cut -c 1-200)" >&2
