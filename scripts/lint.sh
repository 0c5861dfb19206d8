#!/bin/sh
# Every check that needs no test run; the first that fails ends it, with its own words.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

step() { printf 'lint: %s\n' "$1" >&2; shift; "$@"; }

step "ruff format" $bin/ruff format --check --quiet
step "ruff check" $bin/ruff check --quiet
step "mypy" $bin/mypy --no-error-summary
step "import-linter" $bin/lint-imports >/dev/null || { $bin/lint-imports; exit 1; }
# shellcheck disable=SC2046  # file names in this repository have no spaces
step "codespell" $bin/codespell $(git ls-files)
# shellcheck disable=SC2046
step "shellcheck" shellcheck $(git ls-files '*.sh') .ci/run
step "generated files" $bin/python -m kubevirt.api.generate --check
step "generated messages" $bin/python scripts/stubs.py --check
