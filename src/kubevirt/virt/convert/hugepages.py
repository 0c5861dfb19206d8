"""Huge pages: which size a guest wants, and whether there are any."""

from kubevirt.base.quantity import Quantity
from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.errors import SpecError, UnsupportedError, shown
from kubevirt.virt.memory import whole_bytes


def hugepage_bytes(guest: Guest) -> int:
    pages = guest.domain.memory and guest.domain.memory.hugepages
    if not pages or not pages.page_size:
        raise SpecError("memory.hugepages lacks pageSize; set it to 2Mi or 1Gi")
    size = whole_bytes(Quantity.from_json(pages.page_size), "memory.hugepages.pageSize")
    offered = guest.facts.host.hugepage_sizes
    if size not in offered:
        there = ", ".join(map(str, offered)) if offered else "none"
        raise UnsupportedError(
            f"huge pages of {shown(pages.page_size)} are not available on this node (page sizes in "
            f"bytes: {there}); reserve them in the node's kernel or remove memory.hugepages",
            reason="NoHugepages",
        )
    return size
