#!/bin/sh
# Builds the guest for tests and demos, or finds it in the cache; prints the folder it is in.
set -eu
cd "$(dirname "$0")/.."
PYTHONPATH=guest exec .venv/bin/python -m guestimage "$@"
