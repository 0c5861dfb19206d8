#!/bin/sh
# Every check that needs no test run; the first that fails ends it, with its own words.
set -eu
cd "$(dirname "$0")/.."
bin=.venv/bin

step() { printf 'lint: %s\n' "$1" >&2; shift; "$@"; }

# mypy takes longer than all others together, on one core, so they run beside it.
said=$(mktemp)
printf 'lint: mypy, and meanwhile\n' >&2
$bin/mypy --no-error-summary >"$said" 2>&1 &
mypy=$!
trap 'kill $mypy 2>/dev/null || :; rm -f "$said"' EXIT

step "ruff format" $bin/ruff format --check --quiet
step "ruff check" $bin/ruff check --quiet
step "import-linter" $bin/lint-imports >/dev/null || { $bin/lint-imports; exit 1; }
# shellcheck disable=SC2046  # file names in this repository have no spaces
step "codespell" $bin/codespell $(git ls-files)
# shellcheck disable=SC2046
step "shellcheck" shellcheck $(git ls-files '*.sh') $(git grep -lE '^#!.*[/ ](ba)?sh$' -- guest/root .ci)
step "generated files" $bin/python -m kubevirt.api.generate --check
step "generated messages" $bin/python scripts/stubs.py --check
status=0
step "what mypy says" wait $mypy || status=1
trap 'rm -f "$said"' EXIT # it has ended, and its number may be another's
[ $status = 0 ] || { cat "$said"; exit 1; }
