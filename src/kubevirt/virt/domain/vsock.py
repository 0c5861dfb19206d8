"""A socket between host and guest that needs no network."""

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element, YesNo


class ContextId(Element, frozen=True, kw_only=True):
    auto: YesNo = None
    address: Attr[int | None] = None


class Vsock(Element, frozen=True, kw_only=True):
    model: Attr[str]
    cid: ContextId
    alias: Alias | None = None
