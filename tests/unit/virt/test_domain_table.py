"""The table of nouns is whole: each has a test in a guest that exists, and the page shows it."""

import ast

import pytest
from tests.e2e.nouns import table

FOLDER = table.ROOT / table.FOLDER
GOLDEN = table.ROOT / "tests/golden/domain"


def named_in(file: str) -> set[str]:
    tree = ast.parse((FOLDER / f"{file}.py").read_text())
    return {
        each.name
        for each in tree.body
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and each.name.startswith("test_")
    }


def test_every_noun_has_a_test_and_no_test_proves_something_unheard_of() -> None:
    nouns = [noun for part in table.NOUNS.values() for noun in part]
    assert len(nouns) == len(set(nouns))
    assert set(table.TESTS) == set(nouns)
    assert all(table.TESTS.values())


@pytest.mark.parametrize("test", sorted({each for tests in table.TESTS.values() for each in tests}))
def test_a_test_of_the_table_exists(test: str) -> None:
    file, _, name = test.partition("::")
    assert name in named_in(file)


def test_every_test_in_a_guest_is_in_the_table() -> None:
    known = {each for tests in table.TESTS.values() for each in tests}
    files = [path.stem for path in FOLDER.glob("test_*.py")]
    found = {f"{file}::{name}" for file in files for name in named_in(file)}
    assert found == known


@pytest.mark.parametrize("noun", table.GOLDEN, ids=lambda each: each.noun)
def test_a_noun_that_no_guest_shows_has_its_golden_file(noun: table.Golden) -> None:
    assert noun.files
    for name in noun.files:
        assert (GOLDEN / f"{name}.xml").exists()


def test_every_golden_case_is_shown_by_a_guest_or_marked_as_only_converted() -> None:
    cases = {path.stem for path in GOLDEN.glob("*.xml")}
    marked = {name for noun in table.GOLDEN for name in noun.files}
    assert cases == marked | set(table.SHOWN)
    assert set(table.SHOWN.values()) <= set(table.TESTS)


def test_the_page_shows_the_table() -> None:
    """Else write it anew: python -m tests.e2e.nouns.table."""
    assert table.rendered() in table.PAGE.read_text()
