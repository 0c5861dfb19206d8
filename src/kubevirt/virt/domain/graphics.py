"""The screen: how it is reached, and the card that draws it."""

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element


class Listen(Element, frozen=True, kw_only=True):
    type: Attr[str]
    socket: Attr[str | None] = None


class Graphics(Element, frozen=True, kw_only=True):
    type: Attr[str]
    listen: Listen | None = None


class VideoModel(Element, frozen=True, kw_only=True):
    type: Attr[str]
    vram: Attr[int | None] = None
    """KiB."""
    heads: Attr[int | None] = None


class Video(Element, frozen=True, kw_only=True):
    model: VideoModel
    alias: Alias | None = None
