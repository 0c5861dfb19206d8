"""Folders of the launcher that the guest mounts, by virtiofs."""

from msgspec import field

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class FilesystemDriver(Element, frozen=True, kw_only=True):
    type: Attr[str]
    queue: Attr[int | None] = None


class FilesystemSource(Element, frozen=True, kw_only=True):
    socket: Attr[str]
    """Of the virtiofsd that serves the folder."""


class FilesystemTarget(Element, frozen=True, kw_only=True):
    tag: Attr[str] = field(name="dir")
    """What the guest mounts; libvirt calls the tag a folder."""


class Filesystem(Element, frozen=True, kw_only=True):
    type: Attr[str]
    accessmode: Attr[str | None] = None
    driver: FilesystemDriver | None = None
    source: FilesystemSource | None = None
    target: FilesystemTarget | None = None
    alias: Alias | None = None
