"""The base of every API type, and the words that annotate its fields.

An API object is a frozen value. Its JSON names are camel case; the few that are not stand in
`field(name=…)`. Absent and empty are one thing for lists: `()`. What a plain Python type cannot say
(formats, enums, list keys) is said by the marks below, which only the CRD generator reads: decoding
never refuses an object for them, because a server has validated it and a newer one may know more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import msgspec


class Struct(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel", gc=False
):
    """A Kubernetes API value. `frozen` and `kw_only` are not inherited: every subclass repeats them.

    Frozen values cannot form a cycle, so the garbage collector need not look at them: with ten
    thousand objects in a cache that makes decoding three times as fast, and a collection seventeen.
    """

    marks: ClassVar[tuple["Mark", ...]] = ()
    """What the schema says of the type itself, wherever it stands."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a schema says of a field beyond its type. Hashable, because `typing` compares it."""

    entries: tuple[tuple[str, Any], ...]


def mark(**schema: Any) -> Mark:
    """Keywords of the schema as they are: `mark(minimum=1)`, `mark(format="int32")`."""
    return Mark(tuple(schema.items()))


def extension(name: str, value: Any) -> Mark:
    """One of Kubernetes' own keywords: `extension("int-or-string", True)`."""
    return Mark(((f"x-kubernetes-{name}", value),))


def enum(*values: str) -> Mark:
    return mark(enum=values)


def list_map(*keys: str) -> Mark:
    """A list whose items are told apart by `keys`, so that two managers can own different items."""
    return Mark((("x-kubernetes-list-type", "map"), ("x-kubernetes-list-map-keys", keys)))


def rule(expression: str, message: str) -> Mark:
    """A CEL expression that must hold for the value."""
    return extension("validations", (("rule", expression), ("message", message)))


ATOMIC = extension("list-type", "atomic")
SET = extension("list-type", "set")
PRESERVE_UNKNOWN = extension("preserve-unknown-fields", True)
ATOMIC_MAP = extension("map-type", "atomic")
NULLABLE = mark(nullable=True)

NO_ENTRIES: Mapping[str, Any] = MappingProxyType({})
"""The default of every map: one shared, read-only, empty mapping instead of one dict per object."""

Int32 = Annotated[int, mark(format="int32")]
Int64 = Annotated[int, mark(format="int64")]
INT_OR_STRING = extension("int-or-string", True)
IntOrString = Annotated[int | str, INT_OR_STRING]

QUANTITY_PATTERN = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?"
    r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
Quantity = Annotated[int | str, INT_OR_STRING, mark(pattern=QUANTITY_PATTERN)]
"""A quantity as it was written; `base.quantity` computes with it."""

MicroTime = Annotated[str, mark(format="date-time")]
"""A timestamp with exactly six digits after the second: Kubernetes refuses any other number of them."""

Duration = str
"""A Go duration such as `1h30m`."""
