"""The table of nouns is whole: each has a test that exists, and the page shows it."""

import ast
from functools import cache

import pytest
from tests.contract import nouns

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


def test_the_page_shows_the_table() -> None:
    """Else write it anew: python -m tests.contract.nouns."""
    assert nouns.rendered() in nouns.PAGE.read_text()
