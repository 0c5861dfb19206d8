"""The serial port and the console on it."""

from msgspec import field

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element, OnOff


class SerialSource(Element, frozen=True, kw_only=True):
    mode: Attr[str | None] = None
    path: Attr[str | None] = None


class SerialLog(Element, frozen=True, kw_only=True):
    file: Attr[str]
    append: OnOff = None


class SerialTarget(Element, frozen=True, kw_only=True):
    type: Attr[str | None] = None
    port: Attr[int | None] = None


class Serial(Element, frozen=True, kw_only=True):
    type: Attr[str]
    source: SerialSource | None = None
    log: SerialLog | None = None
    target: SerialTarget | None = None
    alias: Alias | None = None


class Console(Element, frozen=True, kw_only=True):
    """The guest's console; for libvirt a second view of the same port."""

    type: Attr[str]
    tty: Attr[str | None] = field(default=None, name="tty")
    target: SerialTarget | None = None
    alias: Alias | None = None
