"""The table of nouns is whole: each has a test that exists, and the page shows it."""

import ast
import json
import subprocess
import sys
from functools import cache

import pytest
from tests.contract import alone, nouns

ALL = sorted({test for part in nouns.PARTS.values() for tests in part.values() for test in tests})


@cache
def named_in(file: str) -> set[str]:
    tree = ast.parse((nouns.ROOT / file).read_text())
    return {
        each.name
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and each.name.lower().startswith("test")
    }


@pytest.mark.parametrize("part", nouns.PARTS)
def test_every_noun_has_a_test(part: str) -> None:
    lonely = [noun for noun, tests in nouns.PARTS[part].items() if not tests]
    assert lonely == []


@pytest.mark.parametrize("test", ALL)
def test_a_test_of_the_table_exists(test: str) -> None:
    assert test.partition("::")[2] in named_in(str(nouns.file_of(test)))


def test_nearly_all_nouns_are_held_to_both_servers() -> None:
    """What is not is the store, the bounds and the logs, which Kubernetes keeps in its own way."""
    alone = [
        noun
        for part, found in nouns.PARTS.items()
        for noun, tests in found.items()
        if part not in ("Store", "Bounds") and not any(map(nouns.runs_on_both, tests))
    ]
    assert set(alone) <= {"audit log", "a callee in the same process"}


def test_a_test_that_only_one_is_asked_has_a_reason() -> None:
    ours = {test.partition("::")[0] for test in ALL if not nouns.runs_on_both(test)}
    assert ours == set(alone.WHY)


def test_at_most_one_test_in_twenty_runs_on_one_server_only() -> None:
    """Of the contract suite, and of what the table names beside it."""
    words = (sys.executable, "-m", "pytest", "tests/contract", "--server=embedded")
    options = ("--collect-only", "-q", "-p", "no:cacheprovider", "-p", "tests.contract.alone")
    said = subprocess.run(
        [*words, *options], cwd=nouns.ROOT, check=True, capture_output=True, text=True, timeout=120
    )
    [line] = [each for each in said.stdout.splitlines() if each.startswith(alone.MARK)]
    found = json.loads(line.removeprefix(alone.MARK))
    ours = [test for test in ALL if not nouns.runs_on_both(test)]
    assert found["tests"] > 2000, "several hundred were asked for"
    assert found["alone"], "not all of Kubernetes' own programs can be asked of ours"
    only_one = sum(found["alone"].values()) + len(ours)
    assert only_one / (found["tests"] + len(ours)) <= 0.05


def test_the_page_shows_the_table() -> None:
    """Else write it anew: python -m tests.contract.nouns."""
    assert nouns.rendered() in nouns.PAGE.read_text()
