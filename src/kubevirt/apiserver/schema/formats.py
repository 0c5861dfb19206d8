"""Formats of strings, as far as Kubernetes 1.34 checks them. Others are not checked.

Each is what Go's parsers accept, not what an RFC says; names are compared without dashes. Texts are
hostile: no check may take more than linear time. Expressions are compiled when they are first asked,
since together they take longer than a small program.
"""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date
from ipaddress import IPv6Address
from typing import Final
from urllib.parse import urlsplit

Check = Callable[[str], bool]


def check_of(name: str) -> Check | None:
    return _CHECKS.get(name.replace("-", ""))


def _matches(pattern: str, flags: int = 0) -> Check:
    return lambda text: re.fullmatch(pattern, text, flags | re.ASCII) is not None


def _is_ipv4(text: str) -> bool:
    """Leading zeros are allowed, as they were in Go once."""
    octets = text.split(".")
    return len(octets) == 4 and all(_is_at_most(each, 255) for each in octets)


def _is_at_most(digits: str, limit: int) -> bool:
    """Counted in characters first: nobody computes a number of a million digits here."""
    return digits.isascii() and digits.isdecimal() and int(digits.lstrip("0")[:9] or 0) <= limit


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return "%" not in text


def _is_cidr(text: str) -> bool:
    address, slash, length = text.partition("/")
    if not slash:
        return False
    if _is_ipv4(address):
        return _is_at_most(length, 32)
    return _is_ipv6(address) and _is_at_most(length, 128)


_MAC: Final = (
    r"(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4,18}[0-9a-f]{2}|(?:[0-9a-f]{4}\.){2,9}[0-9a-f]{4}"
)


def _is_mac(text: str) -> bool:
    digits = sum(character not in ":-." for character in text)
    return digits in (12, 16, 40) and re.fullmatch(_MAC, text, re.IGNORECASE) is not None


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        return False
    try:
        date.fromisoformat(text.replace("0000-", "0004-", 1))
    except ValueError:
        return False
    return True


_TIME: Final = r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))"


def _is_date_time(text: str) -> bool:
    day, _, rest = text.lower().partition("t")
    time = re.fullmatch(_TIME, rest.partition("t")[0])
    if not time or not _is_date(day):
        return False
    return time[1] <= "23" and time[2] <= "59" and time[3] <= "59"


_GO_DURATION: Final = (
    r"[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)"  # two signs for micro
    r"(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*)"
)
_LOOSE_DURATION: Final = r"(?<!\d)\d+\s*([A-Za-zµ]+)"
_UNITS: Final = ("ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk")
_PREFIXES: Final = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")


def _is_duration(text: str) -> bool:
    if re.fullmatch(_GO_DURATION, text):
        return True
    units = (each.lower() for each in re.findall(_LOOSE_DURATION, text, re.ASCII))
    return any(unit in _UNITS or unit.startswith(_PREFIXES) for unit in units)


def _is_byte(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return bool(text)


def _is_uri(text: str) -> bool:
    """As net/url.ParseRequestURI: an absolute URI, or a path from the root."""
    if not text or any(ord(character) < 0x21 or ord(character) == 0x7F for character in text):
        return False
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return text.startswith("/") or bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]*:.", text))


_EMAIL_ATOM: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-]+"
_EMAIL: Final = (
    rf'(?:[^<>@,;:"]*<\s*)?({_EMAIL_ATOM}(\.{_EMAIL_ATOM})*|"[^"]*")'
    rf"@({_EMAIL_ATOM}(\.{_EMAIL_ATOM})*|\[[^\]]*\])\s*>?"
)


def _is_email(text: str) -> bool:
    text = text.strip()
    return ("<" in text) == text.endswith(">") and re.fullmatch(_EMAIL, text) is not None


_LABEL: Final = r"[^\W_]([\w-]{0,61}[^\W_])?"
_TOP: Final = r"[^\W\d_]{2,63}"


def _is_hostname(text: str) -> bool:
    labels = text.split(".")
    if len(text.encode()) > 255 or any(len(label.encode()) > 63 for label in labels):
        return False
    if any("_" in label or not re.fullmatch(_LABEL, label) for label in labels):
        return False
    return len(labels) == 1 or re.fullmatch(_TOP, labels[-1]) is not None


def _is_isbn(text: str, length: int) -> bool:
    digits = text.replace("-", "").replace(" ", "")
    if length == 10:
        if not re.fullmatch(r"[0-9]{9}[0-9X]", digits):
            return False
        numbers = [10 if each == "X" else int(each) for each in digits]
        return sum((10 - place) * each for place, each in enumerate(numbers)) % 11 == 0
    if not re.fullmatch(r"[0-9]{13}", digits):
        return False
    return sum((3 if place % 2 else 1) * int(each) for place, each in enumerate(digits)) % 10 == 0


_CARD: Final = (
    r"(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})"
)


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if not re.fullmatch(_CARD, digits):
        return False
    doubled = (
        sum(divmod(int(each) * 2, 10)) if place % 2 else int(each)
        for place, each in enumerate(reversed(digits))
    )
    return sum(doubled) % 10 == 0


_COLOUR_PART: Final = r"\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*"
_HEX: Final = "[0-9a-f]"

_CHECKS: Final[dict[str, Check]] = {
    "bsonobjectid": _matches(f"{_HEX}{{24}}", re.IGNORECASE),
    "uri": _is_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "mac": _is_mac,
    "uuid": _matches(f"{_HEX}{{8}}(-?{_HEX}{{4}}){{3}}-?{_HEX}{{12}}", re.IGNORECASE),
    "uuid3": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?3{_HEX}{{3}}-?{_HEX}{{4}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
    "uuid4": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?4{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
    "uuid5": _matches(
        f"{_HEX}{{8}}-?{_HEX}{{4}}-?5{_HEX}{{3}}-?[89ab]{_HEX}{{3}}-?{_HEX}{{12}}", re.IGNORECASE
    ),
    "isbn": lambda text: _is_isbn(text, 10) or _is_isbn(text, 13),
    "isbn10": lambda text: _is_isbn(text, 10),
    "isbn13": lambda text: _is_isbn(text, 13),
    "creditcard": _is_credit_card,
    "ssn": _matches(r"\d{3}[- ]\d{2}[- ]\d{4}"),
    "hexcolor": _matches(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})"),
    "rgbcolor": _matches(rf"rgb\({_COLOUR_PART},{_COLOUR_PART},{_COLOUR_PART}\)"),
    "byte": _is_byte,
    "password": lambda _text: True,
    "date": _is_date,
    "duration": _is_duration,
    "datetime": _is_date_time,
}
