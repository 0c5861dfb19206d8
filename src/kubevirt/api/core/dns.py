"""Name resolution inside a pod."""

from typing import Annotated

from kubevirt.api.struct import ATOMIC, Struct


class PodDNSConfigOption(Struct, frozen=True, kw_only=True):
    """…"""

    name: str | None = None
    value: str | None = None


class PodDNSConfig(Struct, frozen=True, kw_only=True):
    """…"""

    nameservers: Annotated[tuple[str, ...], ATOMIC] = ()
    options: Annotated[tuple[PodDNSConfigOption, ...], ATOMIC] = ()
    searches: Annotated[tuple[str, ...], ATOMIC] = ()
