"""The trusted platform module, emulated by swtpm."""

from kubevirt.virt.domain.alias import Alias
from kubevirt.virt.domain.xml.element import Attr, Element, YesNo


class TpmBackend(Element, frozen=True, kw_only=True):
    type: Attr[str]
    version: Attr[str | None] = None
    persistent_state: YesNo = None


class Tpm(Element, frozen=True, kw_only=True):
    model: Attr[str]
    backend: TpmBackend
    alias: Alias | None = None
