"""Preparation: everything that must be there before QEMU starts, and the domain that names it.

It runs in the preparer and touches neither libvirt nor the handler. One that fails leaves nothing behind.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.components.launcher import facts, images
from kubevirt.components.launcher.contents import read_contents
from kubevirt.components.launcher.disks import Disks, remove
from kubevirt.components.launcher.preparer import Note, Offers, Order, Prepared
from kubevirt.components.launcher.settings import Settings
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.convert.facts import Facts, HostFacts, VolumeFacts
from kubevirt.virt.defaults.instance import with_defaults
from kubevirt.virt.domain.xml.writing import to_xml
from kubevirt.virt.volumes.kernel_boot import KernelFiles, kernel_files
from kubevirt.virt.volumes.location import block_volumes
from kubevirt.virt.volumes.planning import plan_volumes

if TYPE_CHECKING:
    from kubevirt.rpc.messages.cmd_pb2 import VirtualMachineOptions


class Preparation:
    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._disks = Disks(settings.claim_tolerance_percent)
        # Made before anybody waits: to learn two hundred types takes longer than to read an instance.
        self._instances = msgspec.json.Decoder(VirtualMachineInstance)

    async def prepare(self, order: Order) -> Prepared:
        """A domain whose disks are in place. Raises a `UserError` for what cannot become a guest."""
        vmi = with_defaults(self._understood(order.instance), KubeVirtConfiguration())
        options = _options(order.options) if order.options else None
        layout = self._settings.layout
        contents = read_contents(vmi, layout)
        if self._settings.image_volumes:
            contents = msgspec.structs.replace(contents, images=images.disks(vmi, layout))
        plans = plan_volumes(vmi, layout, contents)
        found = await self._disks.make(plans, facts.claim_sizes(vmi))
        made = tuple(path for disk in found.values() for path in disk.made)
        try:
            volumes = {name: disk.facts for name, disk in found.items()}
            conversion = convert(vmi, self._facts(vmi, options, volumes, order.offers))
            xml = to_xml(conversion.domain)
            self._check_kernel(vmi)
            self._make_folders(vmi)
        except BaseException:
            remove(made)
            raise
        notes = (*conversion.notes, *(note for disk in found.values() for note in disk.notes))
        told = tuple(Note(reason=note.reason, message=note.message) for note in notes)
        return Prepared(xml=xml, notes=told, made=made)

    def _understood(self, instance: bytes) -> VirtualMachineInstance:
        try:
            return self._instances.decode(instance)
        except msgspec.DecodeError as error:
            raise UserError(f"the instance cannot be understood: {error}") from None

    def _facts(
        self,
        vmi: VirtualMachineInstance,
        options: "VirtualMachineOptions | None",
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
            kernel=self._kernel(vmi),
            volumes=_volumes(vmi, options, volumes),
            interfaces=facts.interface_facts(layout),
        )

    def _check_kernel(self, vmi: VirtualMachineInstance) -> None:
        """A missing kernel would be QEMU's last words in a log that nobody reads."""
        files = self._kernel(vmi)
        for what, path in (("kernel", files.kernel), ("initrd", files.initrd)):
            if path and not Path(path).is_file():
                raise UserError(
                    f"the {what} of kernelBoot is not at {path}; check its path in the image",
                    reason="MissingKernel",
                )

    def _kernel(self, vmi: VirtualMachineInstance) -> KernelFiles:
        firmware = vmi.spec.domain.firmware
        boot = firmware.kernel_boot if firmware else None
        if self._settings.image_volumes:
            return images.kernel(boot, self._settings.layout)
        return kernel_files(boot, self._settings.layout)

    def _make_folders(self, vmi: VirtualMachineInstance) -> None:
        """Where QEMU makes its sockets, and firmware keeps its variables."""
        layout = self._settings.layout
        for folder in (
            layout.instance(vmi.metadata.uid),
            Path(layout.nvram(vmi.metadata.name)).parent,
            Path(layout.downward_metrics_socket).parent,
        ):
            Path(folder).mkdir(mode=0o755, parents=True, exist_ok=True)


def _options(message: bytes) -> "VirtualMachineOptions":
    # What reads it is weighty, and only a handler sends any.
    from kubevirt.rpc.messages.cmd_pb2 import VirtualMachineOptions  # noqa: PLC0415

    return VirtualMachineOptions.FromString(message)


def _volumes(
    vmi: VirtualMachineInstance,
    options: "VirtualMachineOptions | None",
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
