"""Preparation: everything that must be there before QEMU starts, and the domain that names it.

Nothing here touches libvirt but for the question what it offers. A preparation that is not used is undone,
so that the next one begins with nothing.
"""

import os
from pathlib import Path
from typing import Protocol

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.components.launcher import disks, facts
from kubevirt.components.launcher.contents import read_contents
from kubevirt.components.launcher.disks import Disks
from kubevirt.components.launcher.settings import Settings
from kubevirt.rpc.messages import cmd_pb2 as cmd
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.convert.facts import Facts, HostFacts, VolumeFacts
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.volumes.kernel_boot import kernel_files
from kubevirt.virt.volumes.location import block_volumes
from kubevirt.virt.volumes.planning import plan_volumes


class Offers(msgspec.Struct, frozen=True, kw_only=True):
    """What this node's QEMU offers; empty means not known."""

    machine_types: tuple[str, ...] = ()
    cpu_models: tuple[str, ...] = ()


class OffersSource(Protocol):
    async def __call__(self) -> Offers: ...


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    domain: Domain
    notes: tuple[Note, ...]
    made: tuple[str, ...]
    """Files that this preparation has made."""

    def undo(self) -> None:
        disks.remove(self.made)


class Preparation:
    def __init__(self, settings: Settings, offers: OffersSource) -> None:
        self._settings = settings
        self._offers = offers
        self._disks = Disks(settings.claim_tolerance_percent)

    async def prepare(
        self, vmi: VirtualMachineInstance, options: cmd.VirtualMachineOptions | None
    ) -> Prepared:
        """A domain whose disks are in place. Raises a `UserError` for what cannot become a guest."""
        vmi = with_defaults(vmi, KubeVirtConfiguration())
        layout = self._settings.layout
        plans = plan_volumes(vmi, layout, read_contents(vmi, layout))
        offers = await self._offers()
        found = await self._disks.make(plans, facts.claim_sizes(vmi))
        made = tuple(path for disk in found.values() for path in disk.made)
        try:
            volumes = {name: disk.facts for name, disk in found.items()}
            conversion = convert(vmi, self._facts(vmi, options, volumes, offers))
            self._check_kernel(vmi)
            self._make_folders(vmi)
        except BaseException:
            disks.remove(made)
            raise
        told = (note for disk in found.values() for note in disk.notes)
        return Prepared(domain=conversion.domain, notes=(*conversion.notes, *told), made=made)

    def _facts(
        self,
        vmi: VirtualMachineInstance,
        options: cmd.VirtualMachineOptions | None,
        volumes: dict[str, VolumeFacts],
        offers: Offers,
    ) -> Facts:
        layout = self._settings.layout
        return Facts(
            host=HostFacts(
                kvm=self._settings.kvm,
                machine_types=offers.machine_types,
                cpu_models=offers.cpu_models,
                hugepage_sizes=facts.huge_page_sizes(),
                cpu_set=_own_cpus(vmi),
                numa_nodes=facts.numa_nodes(options),
            ),
            cluster=facts.cluster_facts(options),
            layout=layout,
            firmware=self._settings.firmware,
            volumes=_volumes(vmi, options, volumes),
            interfaces=facts.interface_facts(layout),
        )

    def _check_kernel(self, vmi: VirtualMachineInstance) -> None:
        """A missing kernel would be QEMU's last words in a log that nobody reads."""
        firmware = vmi.spec.domain.firmware
        boot = firmware.kernel_boot if firmware else None
        files = kernel_files(boot, self._settings.layout)
        for what, path in (("kernel", files.kernel), ("initrd", files.initrd)):
            if path and not Path(path).is_file():
                raise UserError(
                    f"the {what} of kernelBoot is not at {path}; check its path in the image",
                    reason="MissingKernel",
                )

    def _make_folders(self, vmi: VirtualMachineInstance) -> None:
        """Where QEMU makes its sockets, and firmware keeps its variables."""
        layout = self._settings.layout
        for folder in (
            layout.instance(vmi.metadata.uid),
            Path(layout.nvram(vmi.metadata.name)).parent,
            Path(layout.downward_metrics_socket).parent,
        ):
            Path(folder).mkdir(mode=0o755, parents=True, exist_ok=True)


def _volumes(
    vmi: VirtualMachineInstance,
    options: cmd.VirtualMachineOptions | None,
    found: dict[str, VolumeFacts],
) -> dict[str, VolumeFacts]:
    preallocated = frozenset(options.PreallocatedVolumes if options else ())
    blocks = block_volumes(vmi)
    return {
        name: msgspec.structs.replace(
            each, is_block=name in blocks, preallocated=name in preallocated
        )
        for name, each in found.items()
    }


def _own_cpus(vmi: VirtualMachineInstance) -> tuple[int, ...]:
    cpu = vmi.spec.domain.cpu
    if cpu is None or not cpu.dedicated_cpu_placement:
        return ()
    return tuple(sorted(os.sched_getaffinity(0)))
