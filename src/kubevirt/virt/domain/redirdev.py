"""Slots for USB devices that a client brings along."""

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class RedirectSource(Element, frozen=True, kw_only=True):
    mode: Attr[str]
    path: Attr[str]


class RedirectedDevice(Element, frozen=True, kw_only=True):
    bus: Attr[str]
    type: Attr[str]
    source: RedirectSource | None = None
    alias: Alias | None = None
