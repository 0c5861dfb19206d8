"""Whether a guest could move to another node while it runs, and if not, why."""

from collections.abc import Iterator
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.volumes import Volume
from kubevirt.virt.conditions import FALSE, Told

LIVE: Final = "LiveMigration"
WITH_DISKS: Final = "BlockMigration"
NOT_BUILT: Final = Told(
    FALSE,
    "LiveMigrationNotBuilt",
    "live migration is not built yet: the guest stays on its node for as long as it runs",
)
"""Of a guest that nothing else ties to its node. Whoever builds migration takes it out."""


def of(vmi: VirtualMachineInstance, shared_claims: frozenset[str]) -> Told:
    """The first reason against it, in KubeVirt's order; its own come first, since they stay."""
    return next(_obstacles(vmi, shared_claims), NOT_BUILT)


def method(vmi: VirtualMachineInstance, shared_claims: frozenset[str]) -> str:
    """Disks that live in the pod must be copied."""
    if next(_disks(vmi, shared_claims), None):
        return WITH_DISKS
    local = any(
        each.container_disk or each.empty_disk or each.ephemeral for each in vmi.spec.volumes
    )
    return WITH_DISKS if local else LIVE


def _obstacles(vmi: VirtualMachineInstance, shared_claims: frozenset[str]) -> Iterator[Told]:
    yield from _disks(vmi, shared_claims)
    yield from _network(vmi)
    yield from _devices(vmi)
    yield from _processors(vmi)


def _disks(vmi: VirtualMachineInstance, shared_claims: frozenset[str]) -> Iterator[Told]:
    for volume in vmi.spec.volumes:
        if volume.host_disk is not None and not volume.host_disk.shared:
            yield Told(
                FALSE, "DisksNotLiveMigratable", "cannot migrate VMI with non-shared HostDisk"
            )
        claim = _claim(volume)
        if claim is not None and claim not in shared_claims:
            yield Told(
                FALSE,
                "DisksNotLiveMigratable",
                f"cannot migrate VMI: PVC {claim} is not shared, live migration requires that "
                "all PVCs must be shared (using ReadWriteMany access mode)",
            )


def _claim(volume: Volume) -> str | None:
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return volume.data_volume.name if volume.data_volume is not None else None


def _network(vmi: VirtualMachineInstance) -> Iterator[Told]:
    in_pod = {each.name for each in vmi.spec.networks if each.pod is not None}
    for interface in vmi.spec.domain.devices.interfaces:
        if interface.name in in_pod and interface.masquerade is None and interface.binding is None:
            yield Told(
                FALSE,
                "InterfaceNotLiveMigratable",
                "cannot migrate VMI which does not use masquerade or a migratable plugin to "
                "connect to the pod network",
            )


def _devices(vmi: VirtualMachineInstance) -> Iterator[Told]:
    devices = vmi.spec.domain.devices
    if devices.host_devices or devices.gpus:
        text = "VMI uses a PCI or USB device of its node"
        yield Told(FALSE, "HostDeviceNotLiveMigratable", text)
    if devices.filesystems:
        text = "VMI uses virtiofs"
        yield Told(FALSE, "VirtIOFSNotLiveMigratable", text)


def _processors(vmi: VirtualMachineInstance) -> Iterator[Told]:
    cpu = vmi.spec.domain.cpu
    if cpu is not None and cpu.model == "host-passthrough":
        text = "VMI uses the processor of its node as it is (cpu model host-passthrough)"
        yield Told(FALSE, "CPUModeLiveMigratable", text)
    security = vmi.spec.domain.launch_security
    if security is not None and (security.sev or security.snp):
        yield Told(FALSE, "SEVNotLiveMigratable", "VMI uses SEV")
    if security is not None and security.tdx:
        yield Told(FALSE, "TDXNotLiveMigratable", "VMI uses TDX")
