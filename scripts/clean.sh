#!/bin/sh
# Removes what this checkout made for itself. Caches outside it (built Kubernetes programs) stay.
set -eu
cd "$(dirname "$0")/.."
rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache bench/results
find src tests scripts cluster-up bench examples -type d -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
