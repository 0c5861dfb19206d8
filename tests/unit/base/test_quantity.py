"""Quantities give Kubernetes' own answers.

`tests/golden/quantity.jsonl` holds what k8s.io/apimachinery v0.34.4 answered to hand-picked and to
random inputs: one list per line, the columns are named in the first. `null` stands where a question
makes no sense, or where we differ on purpose; those cases are written out below.
"""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from kubevirt.base.errors import QuantityError, UserError, is_bug
from kubevirt.base.quantity import ZERO, Format, Quantity

GOLDEN = Path(__file__).parents[2] / "golden" / "quantity.jsonl"


def golden() -> list[dict[str, Any]]:
    columns, *rows = [json.loads(line) for line in GOLDEN.read_text().splitlines()]
    return [dict(zip(columns, row, strict=True)) for row in rows]


def answers(case: dict[str, Any]) -> dict[str, Any]:
    """Our answers to the questions that Kubernetes answered."""
    try:
        a = Quantity.parse(case["a"])
    except QuantityError as error:
        return {"error": str(error)}
    ours: dict[str, Any] = {
        "string": str(a),
        "format": str(a.format),
        "decimal": a.as_decimal(),
        "value": a.value(),
        "milli": a.milli_value(),
        "neg": str(-a),
        "mul": str(a * case["k"]),
        "up": str(a.rounded_up(0)),
    }
    if case["cmp"] is not None:
        b = Quantity.parse(case["b"])
        ours |= {"add": str(a + b), "sub": str(a - b), "cmp": (a > b) - (a < b)}
    return ours


@pytest.mark.parametrize("case", golden(), ids=lambda case: repr(case["a"]))
def test_we_answer_as_kubernetes_does(case: dict[str, Any]) -> None:
    inputs = {"a", "b", "k"}
    theirs = {key: value for key, value in case.items() if key not in inputs and value is not None}
    if "decimal" in theirs:
        theirs["decimal"] = Decimal(theirs["decimal"])
    ours = answers(case)
    assert {key: ours.get(key) for key in theirs} == theirs


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1.5Gi", "1536Mi"),
        ("0.1", "100m"),
        ("12e6", "12e6"),
        ("1024Ki", "1Mi"),
        ("1000k", "1M"),
        ("0.5Gi", "512Mi"),
        ("1.5G", "1500M"),
    ],
)
def test_the_canonical_form_has_no_fraction_and_the_largest_unit(text: str, shown: str) -> None:
    assert str(Quantity.parse(text)) == shown


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("1Gi", "1G", "2073741824"),
        ("1G", "1Gi", "2073741824"),
        ("1Gi", "1Mi", "1025Mi"),
        ("1024", "1Ki", "2048"),
        ("0", "1Ki", "1Ki"),
        ("1e3", "1Ki", "2024"),
        ("1Gi", "-1023Mi", "1Mi"),
    ],
)
def test_a_sum_is_written_like_its_first_part_unless_that_is_zero(
    left: str, right: str, total: str
) -> None:
    assert str(Quantity.parse(left) + Quantity.parse(right)) == total


def test_kubernetes_loses_the_unit_beyond_the_largest_and_we_do_not() -> None:
    assert str(Quantity.parse("1000E")) == "1000E"  # Kubernetes: 1
    assert str(Quantity.parse("1Ei") * 1024) == "1024Ei"  # Kubernetes: 1
    assert str(Quantity.parse("1e21")) == "1e21"


def test_kubernetes_overflows_and_we_do_not() -> None:
    assert Quantity.parse("10E").value() == 10**19  # Kubernetes: 0
    assert Quantity.parse("-9Pi").value() == -9 * 2**50  # Kubernetes: -7493989778


def test_negative_numbers_round_away_from_zero_like_positive_ones() -> None:
    assert Quantity.parse("-1.5").value() == -2
    assert Quantity.parse("-0.1Ki").value() == -103  # Kubernetes: -101


@pytest.mark.parametrize("text", ["1e1001", "1e-1001", "1e2000000000", "1e99999999999999999999"])
def test_an_exponent_that_would_stall_whoever_computes_is_refused(text: str) -> None:
    with pytest.raises(QuantityError, match="suffix"):
        Quantity.parse(text)


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(QuantityError, match="regular expression"):
        Quantity.parse("1" * 257)


def test_a_refusal_is_a_users_error_and_a_value_error_in_kubernetes_words() -> None:
    with pytest.raises(ValueError, match="quantities must match the regular expression") as caught:
        Quantity.parse("a lot")
    assert isinstance(caught.value, UserError)
    assert not is_bug(caught.value)


@pytest.mark.parametrize(("value", "shown"), [(2, "2"), (" 1Gi ", "1Gi"), (0.5, "500m")])
def test_a_manifest_may_hold_a_number_or_a_string_with_blanks(
    value: str | float, shown: str
) -> None:
    assert str(Quantity.from_json(value)) == shown


def test_quantities_are_made_from_numbers() -> None:
    assert str(Quantity.of(2**30, Format.BINARY_SI)) == "1Gi"
    assert str(Quantity.of(10**9)) == "1G"
    assert str(Quantity.of_milli(1500)) == "1500m"
    assert not ZERO
    assert (Quantity.of(-1).sign, ZERO.sign, Quantity.of(1).sign) == (-1, 0, 1)


def test_equal_numbers_are_one_key_of_a_dictionary() -> None:
    assert len({Quantity.parse("1Gi"), Quantity.parse("1024Mi"), Quantity.of(2**30)}) == 1
    assert Quantity.parse("1") != "1"
    assert 3 * Quantity.parse("1Gi") == Quantity.parse("3Gi")
    assert repr(Quantity.parse("1.5Gi")) == "Quantity('1536Mi')"


def test_rounding_up_keeps_what_is_already_round() -> None:
    assert str(Quantity.parse("1100m").rounded_up(0)) == "2"
    assert str(Quantity.parse("1.500").rounded_up(-3)) == "1.500"
    assert str(Quantity.parse("1234").rounded_up(3)) == "2k"
    assert str(Quantity.parse("1n").rounded_up(-12)) == "1n"
