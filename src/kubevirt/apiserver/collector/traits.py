"""What the collector reads of an object: who it is, whose it is, and whether it is on its way out.

Most objects belong to nobody and go at once. They are told by a search of their bytes and never decoded.
"""

from typing import Final, NamedTuple

import msgspec

FOREGROUND: Final = "foregroundDeletion"
"""Held by an owner that goes after its dependants."""
ORPHAN: Final = "orphan"
"""Held by an owner that leaves its dependants behind."""

# A quote inside a string is escaped, so these are found where they mean something, or in an object
# that is embedded in another, which costs one decoding in vain.
_OWNED: Final = b'"ownerReferences":'
_GOING: Final = b'"deletionTimestamp":'
_HOLDS: Final = (b'"foregroundDeletion"', b'"orphan"')


class Reference(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Of a dependant to its owner."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    block_owner_deletion: bool | None = None


class Traits(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    namespace: str = ""
    uid: str = ""
    owner_references: tuple[Reference, ...] | None = None
    finalizers: tuple[str, ...] | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None

    @property
    def owners(self) -> tuple[Reference, ...]:
        return self.owner_references or ()

    @property
    def holds(self) -> tuple[str, ...]:
        return self.finalizers or ()

    @property
    def waits_for_dependants(self) -> bool:
        return bool(self.deletion_timestamp) and FOREGROUND in self.holds

    @property
    def leaves_dependants(self) -> bool:
        return bool(self.deletion_timestamp) and ORPHAN in self.holds


class _Object(msgspec.Struct):
    metadata: Traits


_decode: Final = msgspec.json.Decoder(_Object).decode


UNREADABLE: Final = Traits(name="")
"""Of an object from another time. It belongs to nobody, and nobody knows whose it is not."""


def read(value: bytes) -> Traits:
    try:
        return _decode(value).metadata
    except msgspec.DecodeError:
        return UNREADABLE


def is_going(value: bytes) -> bool:
    """Whether its deletion may have begun; a no is certain."""
    return _GOING in value


def is_owned(value: bytes) -> bool:
    """Whether it may have owners; a no is certain."""
    return _OWNED in value


def is_held_for_dependants(value: bytes) -> bool:
    """Whether it may be going and wait for its dependants, or for their being let go; a no is certain."""
    return _GOING in value and any(hold in value for hold in _HOLDS)


class Place(NamedTuple):
    """Where an object lies, as its key tells."""

    group: str
    plural: str
    namespace: str
    name: str

    @classmethod
    def of(cls, key: str) -> "Place":
        _, _, group, plural, rest = key.split("/", 4)
        namespace, _, name = rest.rpartition("/")
        return cls("" if group == "core" else group, plural, namespace, name)
