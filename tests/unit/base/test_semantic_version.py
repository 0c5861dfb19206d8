"""Versions as other programs read them."""

import re

import pytest

import kubevirt
from kubevirt.base.semantic_version import semantic


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.1.0.dev0", "0.1.0-dev0"),
        ("0.1.0-dev0", "0.1.0-dev0"),
        ("1.2rc1", "1.2.0-rc1"),
        ("1.2.3", "1.2.3"),
        ("1.2.3.dev4+g0123abc", "1.2.3-dev4+g0123abc"),
        ("none", "none"),
    ],
)
def test_a_version_of_pythons_becomes_one_of_everybodys(version: str, expected: str) -> None:
    assert semantic(version) == expected


def test_our_own_can_be_read_by_go() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", semantic(kubevirt.__version__))
