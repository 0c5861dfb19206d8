"""The claims that an instance's volumes name, and what its status tells of them.

Launchers read there how large a claim is, and whether it is a block device.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import (
    PersistentVolumeClaimInfo,
    VirtualMachineInstanceStatus,
    VolumeStatus,
)
from kubevirt.api.volumes import Volume
from kubevirt.virt.instance import phases

BLOCK = "Block"

Claims = Mapping[str, PersistentVolumeClaimInfo]
"""By name, of those that exist."""


def claims_of(vmi: VirtualMachineInstance) -> dict[str, str]:
    """The claim of each volume that has one. A DataVolume's has its name."""
    found = {each.name: claim_of(each) for each in vmi.spec.volumes}
    return {name: claim for name, claim in found.items() if claim}


def claim_of(volume: Volume) -> str | None:
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    if volume.data_volume is not None:
        return volume.data_volume.name
    below = volume.ephemeral.persistent_volume_claim if volume.ephemeral is not None else None
    return below.claim_name if below is not None else None


def missing(vmi: VirtualMachineInstance, claims: Claims) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in claims_of(vmi).values() if each not in claims))


def blocks(vmi: VirtualMachineInstance, claims: Claims) -> frozenset[str]:
    """The volumes whose claims are block devices."""
    return frozenset(
        volume
        for volume, claim in claims_of(vmi).items()
        if claim in claims and claims[claim].volume_mode == BLOCK
    )


def with_claims(
    vmi: VirtualMachineInstance, status: VirtualMachineInstanceStatus, claims: Claims
) -> VirtualMachineInstanceStatus:
    """Told while the status is virt-controller's, together with what else there is to say: never a write of its own."""
    if status == vmi.status or vmi.status.phase not in phases.UNSCHEDULED:
        return status
    known = {each.name: each for each in status.volume_status}
    for volume, claim in claims_of(vmi).items():
        if claim in claims:
            before = known.get(volume, VolumeStatus(name=volume, target=""))
            known[volume] = replace(before, persistent_volume_claim_info=claims[claim])
    return replace(status, volume_status=tuple(known.values()))
