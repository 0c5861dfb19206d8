"""Facts: what a conversion wants to know of this pod and its node, gathered by looking.

The handler sends what only the node knows; the launcher looks at its own pod for the rest.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.base.quantity import Quantity
from kubevirt.virt.convert.facts import (
    ClusterFacts,
    HostCpu,
    InterfaceFacts,
    NumaNode,
    SmbiosFacts,
)
from kubevirt.virt.layout import Layout

if TYPE_CHECKING:
    from kubevirt.rpc.messages.cmd_pb2 import VirtualMachineOptions

HUGE_PAGES: Final = "/sys/kernel/mm/hugepages"


def cluster_facts(options: "VirtualMachineOptions | None") -> ClusterFacts:
    """The installation's settings, as the handler sends them with each sync."""
    if options is None:
        return ClusterFacts()
    config, smbios = options.clusterConfig, options.VirtualMachineSMBios
    default = SmbiosFacts()
    return ClusterFacts(
        balloon_stats_period=options.MemBalloonStatsPeriod,
        free_page_reporting=not config.FreePageReportingDisabled,
        serial_console_log=not config.SerialConsoleLogDisabled,
        smbios=SmbiosFacts(
            manufacturer=smbios.manufacturer or default.manufacturer,
            family=smbios.family or default.family,
            product=smbios.product or default.product,
            sku=smbios.sku,
            version=smbios.version,
        ),
    )


def numa_nodes(options: "VirtualMachineOptions | None") -> tuple[NumaNode, ...]:
    if options is None:
        return ()
    return tuple(
        NumaNode(
            id=cell.id,
            cpus=tuple(HostCpu(id=cpu.id, siblings=tuple(cpu.siblings)) for cpu in cell.cpus),
        )
        for cell in options.topology.numa_cells
    )


def interface_facts(layout: Layout) -> Mapping[str, InterfaceFacts]:
    """What the privileged side has connected; without networks there is no such file."""
    path = Path(layout.interface_facts)
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, InterfaceFacts])
    except FileNotFoundError:
        return {}
    except msgspec.DecodeError as error:
        raise UserError(
            f"the list of network cards at {path} cannot be read: {error}; it is written by "
            f"virt-handler, whose version may not fit this launcher's",
            reason="InvalidInterfaces",
        ) from None


def huge_page_sizes(folder: str = HUGE_PAGES) -> tuple[int, ...]:
    """Bytes of the pages that this machine has set aside."""
    return tuple(sorted(_sizes_with_pages(Path(folder))))


def _sizes_with_pages(folder: Path) -> Iterable[int]:
    for each in folder.glob("hugepages-*kB"):
        if int((each / "nr_hugepages").read_text()) > 0:
            yield int(each.name.removeprefix("hugepages-").removesuffix("kB")) << 10


def claim_sizes(vmi: VirtualMachineInstance) -> dict[str, int]:
    """Bytes by volume, of claims that say how large they are."""
    found = {}
    for status in vmi.status.volume_status:
        claim = status.persistent_volume_claim_info
        size = claim.capacity.get("storage") if claim else None
        if size is not None:
            found[status.name] = Quantity.from_json(size).value()
    return found
