"""Memory that the host cannot read: SEV, SEV-SNP, TDX."""

from msgspec import field

from kubevirt.virt.domain.xml.element import Attr, Element


class LaunchSecurity(Element, frozen=True, kw_only=True):
    type: Attr[str]
    policy: str | None = None
    dh_cert: str | None = field(default=None, name="dhCert")
    session: str | None = None
