#!/bin/sh
# From a checkout to a guest that one can log in to: the home, the guest's image, and the first machine.
# What was done before is found again: the image is built once, a home that is up stays up.
set -eu
cd "$(dirname "$0")/.."
guest/build.sh --quiet >/dev/null
.venv/bin/virtctl up "$@"
exec .venv/bin/python scripts/first_vm.py
