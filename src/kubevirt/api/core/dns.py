"""Name resolution inside a pod."""

from typing import Annotated

from kubevirt.api.struct import ATOMIC, Struct


class PodDNSConfigOption(Struct, frozen=True, kw_only=True):
    """Resolver option."""

    name: str | None = None
    """Option, e.g. ndots."""
    value: str | None = None
    """Its value, if it takes one."""


class PodDNSConfig(Struct, frozen=True, kw_only=True):
    """Resolver settings, merged into what the DNS policy gives."""

    nameservers: Annotated[tuple[str, ...], ATOMIC] = ()
    """Addresses of DNS servers, at most 3."""
    options: Annotated[tuple[PodDNSConfigOption, ...], ATOMIC] = ()
    """Options as in resolv.conf."""
    searches: Annotated[tuple[str, ...], ATOMIC] = ()
    """Search domains."""
