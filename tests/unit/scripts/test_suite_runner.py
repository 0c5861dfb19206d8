"""The suite runner counts truthfully, and leaves nothing out in silence."""

import os
from pathlib import Path

import pytest
from scripts import test as runner

PASSING = "def test_a(): pass\ndef test_b(): pass\n"
FAILING = "def test_c(): assert False\n"
SKIPPED = "import pytest\n@pytest.mark.skip(reason='no disk')\ndef test_d(): pass\n"


# The least that pytest can start with: no workers, and no plugin but the one that counts them.
QUICKLY = ("--", "-p", "xdist.plugin", "-n0")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "tests").mkdir()
    return tmp_path


def give(checkout: Path, suite: str, source: str) -> None:
    folder = checkout / "tests" / suite
    folder.mkdir(exist_ok=True)
    (folder / f"test_{len(list(folder.iterdir()))}.py").write_text(source)


def last_line(capfd: pytest.CaptureFixture[str]) -> str:
    return capfd.readouterr().out.splitlines()[-1]


def test_suites_run_in_order_and_the_table_counts_them(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    give(checkout, "property", PASSING + SKIPPED)
    give(checkout, "unit", PASSING)
    assert runner.main(QUICKLY, checkout) == 0
    output = capfd.readouterr().out
    rows = [line.split() for line in output.splitlines() if line.startswith(("unit ", "property "))]
    assert [row[:4] for row in rows] == [["unit", "2", "0", "0"], ["property", "2", "0", "1"]]
    assert "skipped in property:\n     1  no disk" in output
    assert output.splitlines()[-1] == "4 passed, 0 failed, 1 skipped"


def test_a_failure_fails_the_run_and_the_next_suite_runs_still(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    give(checkout, "unit", PASSING + FAILING)
    give(checkout, "property", PASSING)
    assert runner.main(QUICKLY, checkout) == 1
    assert last_line(capfd) == "4 passed, 1 failed, 0 skipped"


def test_what_failed_stands_below_the_table_with_its_cause(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = "def deep():\n    raise OSError('no more disks')\ndef test_c():\n    deep()\n"
    give(checkout, "unit", source)
    assert runner.main(QUICKLY, checkout) == 1
    told = capfd.readouterr().out.partition("failed in unit:\n")[2]
    first, *more = told.splitlines()
    assert first == "  tests.unit.test_0::test_c: OSError: no more disks"
    where = [" ".join(line.split()) for line in more if line.startswith("      ")]
    assert where == [
        "> deep()",
        "tests/unit/test_0.py:4:",
        "> raise OSError('no more disks')",
        "E OSError: no more disks",
        "tests/unit/test_0.py:2: OSError",
    ]


@pytest.mark.parametrize(
    ("source", "problem"),
    [("x = 1\n", "unit: no test ran"), ("import nothing_by_this_name\n", "")],
)
def test_a_suite_that_runs_nothing_has_failed(
    checkout: Path, capfd: pytest.CaptureFixture[str], source: str, problem: str
) -> None:
    give(checkout, "unit", source)
    assert runner.main(QUICKLY, checkout) == 1
    output = capfd.readouterr().out
    assert problem in output
    assert output.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"


def test_a_suite_that_is_not_there_is_named_with_those_that_are(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    give(checkout, "unit", PASSING)
    give(checkout, "contract", PASSING)
    assert runner.main(["nope"], checkout) == 2
    assert last_line(capfd) == "test: there is no suite nope; there are: unit, contract, embedded"


def test_a_folder_that_nobody_thought_of_is_a_suite_too(checkout: Path) -> None:
    for name in ("zebra", "unit", "cluster", "perf"):
        give(checkout, name, PASSING)
    (checkout / "tests" / "golden").mkdir()
    assert list(runner.suites_in(checkout)) == ["unit", "cluster", "zebra"]


def test_a_folder_may_be_run_in_several_ways(checkout: Path) -> None:
    give(checkout, "contract", PASSING)
    suites = runner.suites_in(checkout)
    assert [suite.tests for suite in suites.values()] == ["contract", "contract"]
    assert "--server=embedded" in suites["embedded"].options


def test_what_follows_two_dashes_goes_to_pytest(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    give(checkout, "unit", PASSING)
    assert runner.main(["unit", *QUICKLY, "-k", "test_a"], checkout) == 0
    assert last_line(capfd) == "1 passed, 0 failed, 0 skipped"


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 1)])
def test_kubernetes_is_built_before_the_suites_that_need_it(
    checkout: Path, capfd: pytest.CaptureFixture[str], code: int, status: int
) -> None:
    give(checkout, "contract", PASSING)
    builder = checkout / "cluster-up" / "cli.sh"
    builder.parent.mkdir()
    builder.write_text(f"#!/bin/sh\necho building $*\nexit {code}\n")
    builder.chmod(0o755)
    assert runner.main(["contract", *QUICKLY], checkout) == status
    output = capfd.readouterr().out
    assert "building build --light" in output
    assert ("could not be built" in output) == bool(code)


def test_a_suite_that_needs_root_is_skipped_with_the_way_to_run_it(
    checkout: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    give(checkout, "cluster", FAILING)
    assert runner.main(QUICKLY, checkout) == 0
    output = capfd.readouterr().out
    assert "the whole suite needs root: sudo make test SUITES=cluster" in output
    assert output.splitlines()[-1] == "0 passed, 0 failed, 1 skipped"


def test_what_is_compiled_is_kept_whatever_the_shell_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("OTHER", "kept")
    assert "PYTHONDONTWRITEBYTECODE" not in runner.environment()
    assert runner.environment()["OTHER"] == "kept"
