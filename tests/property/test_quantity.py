"""What holds for every quantity, not only for those that somebody thought of."""

from contextlib import suppress
from decimal import Context, Decimal

from hypothesis import example, given
from hypothesis import strategies as st

from kubevirt.base.errors import QuantityError
from kubevirt.base.quantity import Format, Quantity

EXACT = Context(prec=2000)
FORMATS = st.sampled_from(Format)
NANOS = st.integers(-(10**40), 10**40) | st.integers(-(10**9), 10**9).map(lambda n: n * 10**9)
QUANTITIES = st.builds(Quantity, NANOS, FORMATS)
SUFFIXES = st.sampled_from(["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2"])
NUMBERS = st.from_regex(r"[+-]?([0-9]{1,20}(\.[0-9]{0,12})?|\.[0-9]{1,12})", fullmatch=True)
FACTOR = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
FACTOR |= {"e3": 3, "E-2": -2}


def written(number: str, suffix: str) -> Decimal:
    """What the text says, in arithmetic that shares no code with ours."""
    if suffix.endswith("i"):
        return EXACT.multiply(Decimal(number), Decimal(1024) ** ("KMGTPE".index(suffix[0]) + 1))
    return Decimal(number).scaleb(FACTOR[suffix], EXACT)


@given(NUMBERS, SUFFIXES)
def test_parsing_loses_less_than_a_billionth_and_never_rounds_down(
    number: str, suffix: str
) -> None:
    parsed, exact = Quantity.parse(number + suffix), written(number, suffix)
    if suffix.endswith("i") and abs(exact) > 2**63 - 1:
        assert abs(parsed.as_decimal()) == 2**63 - 1
        return
    gained = EXACT.subtract(EXACT.abs(parsed.as_decimal()), EXACT.abs(exact))
    assert 0 <= gained < Decimal("1e-9")
    assert parsed.sign == (exact > 0) - (exact < 0)


@given(QUANTITIES)
def test_a_quantity_survives_being_written_and_read(quantity: Quantity) -> None:
    again = Quantity.parse(str(quantity))
    capped = again.format is Format.BINARY_SI and abs(quantity.as_decimal()) > 2**63 - 1
    assert again == quantity or capped


@given(QUANTITIES)
def test_the_canonical_form_has_no_fraction_and_no_needless_zeros(quantity: Quantity) -> None:
    text = quantity.canonical()
    assert "." not in text
    assert "+" not in text
    number = text.rstrip("numkMGTPEi").split("e")[0]
    is_largest = text.endswith(("E", "Ei"))
    assert quantity.format is Format.BINARY_SI or is_largest or not number.endswith("000")


@given(NUMBERS, SUFFIXES)
def test_the_canonical_form_is_its_own_canonical_form(number: str, suffix: str) -> None:
    once = Quantity.parse(number + suffix).canonical()
    assert Quantity.parse(once).canonical() == once


@given(QUANTITIES, QUANTITIES)
def test_sums_and_differences_undo_each_other(a: Quantity, b: Quantity) -> None:
    assert a + b == b + a
    assert a + b - b == a
    assert a - b == a + -b
    assert (a - b).sign == -(b - a).sign


@given(QUANTITIES, st.integers(0, 20))
def test_multiplying_is_adding_again_and_again(quantity: Quantity, times: int) -> None:
    assert quantity * times == sum([quantity] * times, Quantity(0))


@given(QUANTITIES, QUANTITIES)
def test_order_is_the_order_of_the_numbers(a: Quantity, b: Quantity) -> None:
    assert (a < b) == (a.as_decimal() < b.as_decimal())
    assert (a == b) == (a.as_decimal() == b.as_decimal())
    assert a != b or hash(a) == hash(b)


@given(QUANTITIES)
def test_whole_values_round_away_from_zero(quantity: Quantity) -> None:
    exact = EXACT.abs(quantity.as_decimal())
    assert exact <= abs(quantity.value()) < EXACT.add(exact, 1)
    thousandfold = exact.scaleb(3, EXACT)
    assert thousandfold <= abs(quantity.milli_value()) < EXACT.add(thousandfold, 1)


@given(st.text(max_size=30) | st.text("0123456789.+-eEinumkKMGTPi", max_size=30))
@example("1e9999999999999999999999999999")
@example("٣")
def test_any_other_text_is_refused_and_nothing_else_happens(text: str) -> None:
    with suppress(QuantityError):
        Quantity.parse(text).value()
