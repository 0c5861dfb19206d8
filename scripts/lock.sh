#!/bin/sh
# Writes the two locks: hashes for every file, no registry address, valid for Python 3.11 to 3.13.
set -eu
cd "$(dirname "$0")/.."
uv=.venv/bin/uv
[ -x "$uv" ] || uv=uv

compile() {
  "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-header --no-annotate "$@"
}

compile pyproject.toml --output-file requirements.lock
compile pyproject.toml --group dev --constraint requirements.lock --output-file requirements-dev.lock
