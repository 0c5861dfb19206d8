"""`Element`: one XML element as a frozen value, and the words that say what a field becomes.

    class Target(Element, frozen=True, kw_only=True):
        dev: Attr[str]                                   # <target dev="vda"/>

    class Disk(Element, frozen=True, kw_only=True):
        target: Target                                   # a child element with fields of its own
        serial: str | None = None                        # <serial>text</serial>
        readonly: Flag = False                           # <readonly/>, there or not
        drivers: tuple[Driver, ...] = field(default=(), name="driver")   # repeated

Fields are written in the order of the class, attributes first, and `None` or `()` leaves nothing.
A field's own name is its XML name, unless `field(name=…)` says otherwise; an element has no name of
its own, since `source` means one thing in a disk and another in a serial port. What a class looks
like in XML is worked out once, in `shape.py`.
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated, ClassVar, TypeVar

import msgspec

T = TypeVar("T")


class Role(Enum):
    """What a field is in XML, where its type does not tell."""

    ATTRIBUTE = auto()
    TEXT = auto()
    FLAG = auto()


@dataclass(frozen=True, slots=True)
class Switch:
    """A boolean attribute and its two spellings; libvirt has several pairs."""

    on: str
    off: str


Attr = Annotated[T, Role.ATTRIBUTE]
"""An attribute of the element: `Attr[str]`, `Attr[int | None]`."""

Text = Annotated[T, Role.TEXT]
"""The text between the tags; an element has that or children, never both."""

Flag = Annotated[bool, Role.FLAG]
"""An empty child whose presence is the value."""

YesNo = Annotated[bool | None, Switch("yes", "no")]
"""An attribute that reads `yes` or `no`."""

OnOff = Annotated[bool | None, Switch("on", "off")]
"""An attribute that reads `on` or `off`."""


class Element(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An XML element. Frozen values form no cycles, so the garbage collector may ignore them."""

    namespace: ClassVar[str] = ""
    """Where this element and its plain children live; empty for libvirt's own vocabulary."""
