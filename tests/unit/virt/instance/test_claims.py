"""Claims of an instance: which it names, and what its status tells of them."""

from typing import Any

import msgspec
from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import PersistentVolumeClaimInfo, VolumeStatus
from kubevirt.virt.instance import phases
from kubevirt.virt.instance.claims import blocks, claims_of, missing, with_claims

VOLUMES = [
    {"name": "root", "persistentVolumeClaim": {"claimName": "disk"}},
    {"name": "data", "dataVolume": {"name": "filled"}},
    {"name": "base", "ephemeral": {"persistentVolumeClaim": {"claimName": "golden"}}},
    {"name": "again", "persistentVolumeClaim": {"claimName": "disk"}},
    {"name": "image", "containerDisk": {"image": "a"}},
]
DISK = PersistentVolumeClaimInfo(claim_name="disk", volume_mode="Block")
GOLDEN = PersistentVolumeClaimInfo(claim_name="golden", volume_mode="Filesystem")


def an_instance(**status: Any) -> VirtualMachineInstance:
    manifest = {"spec": {"domain": {"devices": {}}, "volumes": VOLUMES}, "status": status}
    return msgspec.convert(manifest, VirtualMachineInstance)


def test_a_volume_names_its_claim_in_three_ways() -> None:
    assert claims_of(an_instance()) == {
        "root": "disk",
        "data": "filled",
        "base": "golden",
        "again": "disk",
    }


def test_a_claim_that_does_not_exist_is_missed_once() -> None:
    assert missing(an_instance(), {"golden": GOLDEN}) == ("disk", "filled")


def test_volumes_of_block_claims_are_devices() -> None:
    assert blocks(an_instance(), {"disk": DISK, "golden": GOLDEN}) == {"root", "again"}


def test_claims_are_told_together_with_what_else_there_is_to_say() -> None:
    vmi = an_instance(phase="Pending")
    after = replace(vmi.status, phase=phases.SCHEDULING)
    told = with_claims(vmi, after, {"disk": DISK}).volume_status
    assert told == tuple(
        VolumeStatus(name=name, target="", persistent_volume_claim_info=DISK)
        for name in ("root", "again")
    )


def test_claims_alone_are_no_reason_to_write() -> None:
    vmi = an_instance(phase="Pending")
    assert with_claims(vmi, vmi.status, {"disk": DISK}) is vmi.status


def test_once_the_status_is_virt_handlers_claims_are_not_told_any_more() -> None:
    vmi = an_instance(phase="Running")
    after = replace(vmi.status, phase=phases.FAILED)
    assert with_claims(vmi, after, {"disk": DISK}) is after
