"""Selectors of labels, as objects describe them."""

from typing import Any

import pytest

from kubevirt.apiserver.schema.label_selectors import compile_selector, errors

LABELS = {"room": "hall", "floor": "1"}


@pytest.mark.parametrize("selector", [None, {}, {"matchLabels": {}}, {"matchExpressions": None}])
def test_what_selects_everything_needs_no_labels(selector: Any) -> None:
    assert compile_selector(selector) is None


@pytest.mark.parametrize(
    ("operator", "values", "found"),
    [
        ("In", ["hall", "attic"], True),
        ("In", ["attic"], False),
        ("NotIn", ["attic"], True),
        ("NotIn", ["hall"], False),
        ("Exists", None, True),
        ("DoesNotExist", None, False),
        ("Like", ["hall"], False),
    ],
)
def test_operators(operator: str, values: list[str] | None, *, found: bool) -> None:
    selects = compile_selector(
        {"matchExpressions": [{"key": "room", "operator": operator, "values": values}]}
    )
    assert selects is not None
    assert selects(LABELS) is found


def test_a_missing_label_is_not_among_values() -> None:
    selects = compile_selector(
        {"matchExpressions": [{"key": "roof", "operator": "NotIn", "values": ["x"]}]}
    )
    assert selects is not None
    assert selects(LABELS)


def test_all_of_it_must_hold() -> None:
    selects = compile_selector(
        {
            "matchLabels": {"room": "hall"},
            "matchExpressions": [{"key": "floor", "operator": "In", "values": ["2"]}],
        }
    )
    assert selects is not None
    assert not selects(LABELS)


def test_what_is_wrong_is_named() -> None:
    wrong = {
        "matchLabels": {"a b": "c"},
        "matchExpressions": [
            {"key": "a", "operator": "In"},
            {"key": "a", "operator": "Exists", "values": ["b"]},
            {"key": "a", "operator": "Like"},
        ],
    }
    assert [each.field for each in errors(wrong, "s")] == [
        "s.matchLabels",
        "s.matchExpressions[0].values",
        "s.matchExpressions[1].values",
        "s.matchExpressions[2].operator",
    ]
