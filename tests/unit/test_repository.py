"""Rules of the repository that no linter knows."""

import os
import re
import subprocess
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from scripts import test as runner

ROOT = Path(__file__).parents[2]
LOCKS = [ROOT / "requirements.lock", ROOT / "requirements-dev.lock"]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_the_locks_have_hashes_and_no_addresses(lock: Path) -> None:
    requirements = re.split(r"\n(?=\S)", lock.read_text().strip())
    assert all("--hash=sha256:" in each for each in requirements)
    assert "://" not in lock.read_text()


def test_a_release_that_came_after_the_lock_does_not_break_bootstrap() -> None:
    """Pip took a newer `coverage` for what `coverage[toml]` asks for, and refused it because no lock names it."""
    script = (ROOT / "scripts/bootstrap.sh").read_text().replace("\\\n", " ")
    installs = [line for line in script.splitlines() if "/pip " in line and " install " in line]
    assert installs
    assert all(" --no-deps " in line for line in installs)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_holds_every_dependency_of_the_product(lock: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    locked = {line.split("==")[0] for line in lock.read_text().splitlines() if "==" in line}
    wanted = {re.split(r"[<>=!]", each)[0].strip() for each in project["dependencies"]}
    assert wanted <= locked


def test_a_make_target_is_three_lines_at_most_and_explained() -> None:
    blocks = (ROOT / "Makefile").read_text().split("\n\n")
    targets = [block.splitlines() for block in blocks if block.startswith(".PHONY")]
    assert targets
    for phony, rule, *recipe in targets:
        name = phony.removeprefix(".PHONY: ")
        assert re.fullmatch(rf"{name}:.*## .+", rule), f"{name} has no explanation"
        assert len(recipe) <= 2, f"{name} does too much in the Makefile"


@pytest.mark.parametrize("provider", ["external", "nowhere"])
def test_functional_tests_on_a_provider_that_cannot_have_them_are_refused(provider: str) -> None:
    done = subprocess.run(
        [ROOT / "scripts/functest.sh"],
        env={**os.environ, "KUBE_PROVIDER": provider},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert "functest: " in done.stderr
    assert "embedded" in done.stderr


def test_every_suite_is_told_of() -> None:
    """Those that have tests, in the order in which they run."""
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    assert told == list(runner.suites_in(ROOT))


def test_every_lint_exception_has_its_reason() -> None:
    """Beside it; several that stand in one line share one."""
    text = (ROOT / "pyproject.toml").read_text()
    lint = tomllib.loads(text)["tool"]["ruff"]["lint"]
    exceptions = [*lint["ignore"], *chain.from_iterable(lint["per-file-ignores"].values())]
    section = text.split("[tool.ruff.lint]")[1].split("[tool.ruff.lint.pylint]")[0]
    entries = [
        (code, line, reason.strip())
        for line, _, reason in (each.partition("#") for each in section.splitlines())
        for code in re.findall(r'"([A-Z]+\d*)"', line.partition("select =")[0])
    ]
    assert sorted(code for code, _, _ in entries) == sorted(exceptions)
    assert [(code, line) for code, line, reason in entries if not reason] == []
