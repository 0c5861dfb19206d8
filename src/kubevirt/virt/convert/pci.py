"""PCI addresses as manifests write them."""

import re
from typing import Final

from kubevirt.virt.domain.address import Address
from kubevirt.virt.errors import SpecError, shown

_ADDRESS: Final = re.compile(
    r"(?P<domain>[0-9a-fA-F]{4}):(?P<bus>[0-9a-fA-F]{2}):"
    r"(?P<slot>[01][0-9a-fA-F])\.(?P<function>[0-7])"
)


def pci_address(text: str, thing: str, *, typed: bool = True) -> Address:
    """`0000:08:00.0` in libvirt's words; a host device's source carries no type."""
    found = _ADDRESS.fullmatch(text)
    if not found:
        raise SpecError(
            f"{thing} has the PCI address {shown(text)}; one looks like 0000:08:00.0, "
            f"with domain, bus, slot and function"
        )
    return Address(
        type="pci" if typed else None,
        domain=f"0x{found['domain']}",
        bus=f"0x{found['bus']}",
        slot=f"0x{found['slot']}",
        function=f"0x{found['function']}",
    )
