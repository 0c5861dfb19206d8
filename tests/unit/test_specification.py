"""Every promise names a test that exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPECIFICATION = (ROOT / "SPECIFICATION.md").read_text()
PROMISES = re.findall(r"^\d+\. .+$", SPECIFICATION, re.MULTILINE)
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", SPECIFICATION)))


def test_every_promise_names_its_test() -> None:
    silent = [promise for promise in PROMISES if "`tests/" not in promise]
    assert PROMISES
    assert silent == []


@pytest.mark.parametrize("test", TESTS)
def test_the_test_of_a_promise_exists(test: str) -> None:
    path, _, name = test.partition("::")
    tree = ast.parse((ROOT / path).read_text())
    functions = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not name or name in functions
