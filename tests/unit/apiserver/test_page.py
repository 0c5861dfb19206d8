"""The page for users tells all that can be set."""

import re

import pytest
from tests.contract import nouns

_PROGRAM = nouns.ROOT / "src/kubevirt/apiserver/__main__.py"
ARGUMENTS = re.findall(r'add_argument\(\s*"(--[a-z-]+)"', _PROGRAM.read_text())


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_an_argument_is_on_the_page(argument: str) -> None:
    assert f"`{argument}" in nouns.PAGE.read_text().replace(" --", " `--")


def test_there_are_arguments() -> None:
    assert "--data" in ARGUMENTS
