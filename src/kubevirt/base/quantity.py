"""Quantities: Kubernetes' numbers with units, computed exactly.

    Quantity.parse("1.5Gi")                          1536Mi
    Quantity.parse("100m") + Quantity.parse("1")     1100m
    Quantity.parse("2Gi").value()                    2147483648

Kubernetes counts in billionths, so a quantity here is a whole number of them, never a float. It
remembers how it was written (`1024Mi` is binary, `1G` decimal, `1e9` an exponent) and is shown in
that format's canonical form: no fraction, the largest unit that needs none. The rules, the error
texts and the odd corners are those of `k8s.io/apimachinery/pkg/api/resource`; its answers to some
hundred inputs are the golden file of the tests.

Three differences are on purpose, and each concerns numbers that Kubernetes itself gets wrong:
`value()` is exact where Go's int64 would overflow and rounds negative numbers away from zero always;
beyond the largest unit a number keeps that unit (Go drops it: its `1000E` becomes `1`); and an input
of more than 256 characters or with an exponent beyond 1000 is refused, since computing with it
stalls whoever tries.
"""

import re
from dataclasses import dataclass, field
from decimal import Context, Decimal
from enum import StrEnum
from functools import total_ordering
from typing import Final

from kubevirt.base.errors import QuantityError

TEXT_LIMIT: Final = 256
EXPONENT_LIMIT: Final = 1000
MAX_BINARY: Final = 2**63 - 1
"""Binary quantities end here when they are parsed; decimal ones do not."""

NANO: Final = -9
MILLI: Final = -3
_ONE: Final = 10**9

# What Kubernetes says when it refuses; its expression is wider than what it accepts.
_WRONG_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_WRONG_NUMBER: Final = "unable to parse numeric part of quantity"
_WRONG_SUFFIX: Final = "unable to parse quantity's suffix"

_PARTS: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<suffix>[eEinumkKMGTP]*[-+]?[0-9]*)"
)
_EXPONENT: Final = re.compile(r"[eE](?P<power>[-+]?[0-9]{1,6})")

_DECIMAL_POWER: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_POWER: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {power: suffix for suffix, power in _DECIMAL_POWER.items()}
_BINARY_SUFFIX: Final = {0: "", **{power: suffix for suffix, power in _BINARY_POWER.items()}}


class Format(StrEnum):
    """How a quantity was written, and so how it is shown."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@total_ordering
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Quantity:
    """An exact number with a preferred unit. Equal numbers are equal, whatever their format."""

    nanos: int
    format: Format = Format.DECIMAL_SI
    _as_written: str | None = field(default=None, kw_only=True)
    """The text it came from, where Kubernetes takes that for canonical and shows it again."""

    @classmethod
    def parse(cls, text: str) -> "Quantity":
        parts = _PARTS.fullmatch(text)
        if not text or not parts or len(text) > TEXT_LIMIT:
            raise QuantityError(_WRONG_FORMAT)
        unit = _Unit.of(parts["suffix"])
        whole, fraction = parts["whole"].lstrip("0") or "0", parts["fraction"] or ""
        digits = whole + fraction
        scale = unit.power_of_ten - len(fraction)
        is_simple = unit.is_simple(whole, fraction)
        if not is_simple and not (parts["whole"] or fraction):
            raise QuantityError(_WRONG_NUMBER)
        nanos = _scaled_up(int(digits) << unit.power_of_two, scale - NANO)
        return cls(
            _with_sign(parts["sign"], unit.capped(nanos)),
            unit.format_for(nanos),
            _as_written=text if is_simple and unit.is_canonical(digits, scale) else None,
        )

    @classmethod
    def from_json(cls, value: str | float) -> "Quantity":
        """As it stands in a manifest: a string, perhaps with blanks around it, or a number."""
        return cls.parse(str(value).strip())

    @classmethod
    def of(cls, value: int, format: Format = Format.DECIMAL_SI) -> "Quantity":  # noqa: A002  # Go's name
        return cls(value * _ONE, format)

    @classmethod
    def of_milli(cls, thousandths: int, format: Format = Format.DECIMAL_SI) -> "Quantity":  # noqa: A002
        return cls(thousandths * 10**6, format)

    def value(self) -> int:
        """The number itself, rounded away from zero: a claim is never smaller than what was asked."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """In thousandths, rounded away from zero."""
        return self.scaled_value(MILLI)

    def scaled_value(self, scale: int) -> int:
        """In units of ten to the power of `scale`, rounded away from zero."""
        magnitude = _scaled_up(abs(self.nanos), NANO - scale)
        return -magnitude if self.nanos < 0 else magnitude

    def as_decimal(self) -> Decimal:
        return Decimal(self.nanos).scaleb(NANO, _EXACT).normalize(_EXACT)

    def rounded_up(self, scale: int) -> "Quantity":
        """Rounded away from zero to whole units of ten to the power of `scale`."""
        if scale <= NANO or self.nanos % 10 ** (scale - NANO) == 0:
            return self
        return Quantity(self.scaled_value(scale) * 10 ** (scale - NANO), self.format)

    @property
    def sign(self) -> int:
        return (self.nanos > 0) - (self.nanos < 0)

    def __bool__(self) -> bool:
        return self.nanos != 0

    def __add__(self, other: "Quantity") -> "Quantity":
        # Zero has no format of its own to insist on: 0 + 1Gi is 1Gi.
        return Quantity(self.nanos + other.nanos, self.format if self else other.format)

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(self.nanos - other.nanos, self.format if self else other.format)

    def __neg__(self) -> "Quantity":
        return Quantity(-self.nanos, self.format)

    def __mul__(self, factor: int) -> "Quantity":
        return Quantity(self.nanos * factor, self.format)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return self.nanos == other.nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self.nanos < other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    def __str__(self) -> str:
        return self._as_written or self.canonical()

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def canonical(self) -> str:
        """No fraction, the largest unit that needs none, a sign only when negative.

        Binary units show whole numbers of at least 1024; a smaller one or a fraction is decimal.
        """
        if not self:
            return "0"
        if self.format is Format.DECIMAL_EXPONENT:
            number, power = self._in_thousands()
            return f"{number}e{power}" if power else str(number)
        whole, rest = divmod(abs(self.nanos), _ONE)
        if self.format is Format.BINARY_SI and whole >= 1024 and not rest:
            return self._in_binary_units(whole)
        number, power = self._in_thousands(at_most=max(_DECIMAL_SUFFIX))
        return f"{number}{_DECIMAL_SUFFIX[power]}"

    def _in_thousands(self, at_most: int = EXPONENT_LIMIT * 3) -> tuple[int, int]:
        """The number as `mantissa` and the largest power of a thousand that leaves it whole."""
        text = str(self.nanos)
        power = NANO + len(text) - len(text.rstrip("0"))
        power = min(power - power % 3, at_most)
        return self.nanos // 10 ** (power - NANO), power

    def _in_binary_units(self, whole: int) -> str:
        power = 0
        while power < 60 and whole % 1024 == 0:
            whole //= 1024
            power += 10
        return f"{'-' if self.nanos < 0 else ''}{whole}{_BINARY_SUFFIX[power]}"


ZERO: Final = Quantity(0)


@dataclass(frozen=True, slots=True)
class _Unit:
    """What a suffix means: a power of ten or of two, and the format that it stands for.

    Kubernetes takes a short way for numbers of few digits. It is the same arithmetic, but it shows
    in two corners: only there may the digits be missing (`Ki` is zero, `Ei` an error), and only
    there does a text that looks canonical stay as it is (`+5`, `1.500`, `1E3`).
    """

    format: Format
    power_of_ten: int = 0
    power_of_two: int = 0

    @classmethod
    def of(cls, suffix: str) -> "_Unit":
        if suffix in _DECIMAL_POWER:
            return cls(Format.DECIMAL_SI, power_of_ten=_DECIMAL_POWER[suffix])
        if suffix in _BINARY_POWER:
            return cls(Format.BINARY_SI, power_of_two=_BINARY_POWER[suffix])
        exponent = _EXPONENT.fullmatch(suffix)
        if not exponent or abs(int(exponent["power"])) > EXPONENT_LIMIT:
            raise QuantityError(_WRONG_SUFFIX)
        return cls(Format.DECIMAL_EXPONENT, power_of_ten=int(exponent["power"]))

    def is_simple(self, whole: str, fraction: str) -> bool:
        """Whether Kubernetes takes its short way."""
        if self.format is Format.BINARY_SI:
            return not fraction and len(whole) <= 14 - self.power_of_two * 3 // 10
        return len(whole + fraction) <= 18 and self.power_of_ten - len(fraction) >= NANO

    def is_canonical(self, digits: str, scale: int) -> bool:
        """Whether Kubernetes takes a simple text for canonical at first sight."""
        if self.format is Format.BINARY_SI:
            return int(digits) % 8 != 0
        return scale % 3 == 0 and not digits.startswith("0") and not digits.endswith("000")

    def capped(self, nanos: int) -> int:
        return min(nanos, MAX_BINARY * _ONE) if self.format is Format.BINARY_SI else nanos

    def format_for(self, nanos: int) -> Format:
        """Less than one has no binary unit."""
        is_fraction = self.format is Format.BINARY_SI and 0 < nanos < _ONE
        return Format.DECIMAL_SI if is_fraction else self.format


_EXACT: Final = Context(prec=10 * EXPONENT_LIMIT)


def _with_sign(sign: str, magnitude: int) -> int:
    return -magnitude if sign == "-" else magnitude


def _scaled_up(magnitude: int, power: int) -> int:
    """`magnitude` times ten to the power of `power`, rounded up. Not for negative numbers."""
    factor: int = 10 ** abs(power)
    return magnitude * factor if power >= 0 else -(-magnitude // factor)
