"""Channels: named pipes between the host and a program in the guest."""

from kubevirt.virt.domain.address import Address
from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class ChannelSource(Element, frozen=True, kw_only=True):
    mode: Attr[str | None] = None
    path: Attr[str | None] = None


class ChannelTarget(Element, frozen=True, kw_only=True):
    type: Attr[str]
    name: Attr[str | None] = None
    state: Attr[str | None] = None
    """connected or disconnected; only libvirt writes it."""


class Channel(Element, frozen=True, kw_only=True):
    """`<channel>`; without source libvirt chooses the socket's path."""

    type: Attr[str]
    source: ChannelSource | None = None
    target: ChannelTarget | None = None
    alias: Alias | None = None
    address: Address | None = None
