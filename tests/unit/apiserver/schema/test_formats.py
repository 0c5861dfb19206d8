"""Formats under attack. What they accept is held against a real server in tests/contract."""

import time

import pytest

from kubevirt.apiserver.schema import formats

NAMES = (
    *("date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "cidr", "mac", "uri"),
    *("uuid", "uuid3", "uuid4", "uuid5", "byte", "hexcolor", "rgbcolor", "ssn", "isbn", "isbn10"),
    *("isbn13", "creditcard", "bsonobjectid"),
)
ATTACKS = (" ", "1", "1.", "a", "a.", "a@", "1:", "-", "%", "<", '"', "é", "1 ", "h1", "a-", "/")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("piece", ATTACKS)
def test_a_long_text_is_judged_in_no_time(name: str, piece: str) -> None:
    check = formats.check_of(name)
    assert check is not None
    start = time.process_time()
    for tail in ("", "!", "@", ">"):
        check(piece * 50_000 + tail)
    # Quadratic time would be minutes.
    assert time.process_time() - start < 2


def test_a_format_that_nobody_knows_is_not_checked() -> None:
    assert formats.check_of("int32") is None
    assert formats.check_of("k8s-short-name") is None


def test_dashes_in_the_name_of_a_format_do_not_matter() -> None:
    assert formats.check_of("date-time") is formats.check_of("datetime")
