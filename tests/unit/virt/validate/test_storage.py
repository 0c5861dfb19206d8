"""Disks and volumes that are refused, with KubeVirt's field and words."""

import pytest
from tests.unit.virt.validate.judged import gated, said, written
from tests.unit.virt.validate.spec_parts import (
    DISKS,
    DNS_LABEL,
    IMAGE,
    Case,
    cloud_init,
    disks,
    volume,
)

DISK: dict[str, Case] = {
    "twins": (
        disks({"name": "a"}, {"name": "a"}),
        f"{DISKS}[1].name",
        f"{DISKS}[1] and {DISKS}[0] must not have the same Name.",
    ),
    "two targets": (
        disks({"name": "a", "disk": {}, "cdrom": {}}),
        f"{DISKS}[0]",
        f"{DISKS}[0] can only have a single target type defined",
    ),
    "boot order 0": (
        disks({"name": "a", "bootOrder": 0}),
        f"{DISKS}[0].bootOrder",
        f"{DISKS}[0].bootOrder must have a boot order > 0, if supplied",
    ),
    "boot order twice": (
        disks({"name": "a", "bootOrder": 1}, {"name": "b", "bootOrder": 1}),
        f"{DISKS}[1].bootOrder",
        f"Boot order for {DISKS}[1].bootOrder already set for a different device.",
    ),
    "ide": (
        disks({"name": "a", "disk": {"bus": "ide"}}),
        f"{DISKS}[0].disk.bus",
        "IDE bus is not supported",
    ),
    "a virtio disc": (
        disks({"name": "a", "cdrom": {"bus": "virtio"}}),
        f"{DISKS}[0].cdrom.bus",
        "Bus type virtio is invalid for CD-ROM device",
    ),
    "an unknown bus": (
        disks({"name": "a", "disk": {"bus": "isa"}}),
        f"{DISKS}[0].disk.bus",
        f"{DISKS}[0] is set with an unrecognized bus isa, must be one of: [virtio scsi sata usb]",
    ),
    "a read-only sata disk": (
        disks({"name": "a", "disk": {"bus": "sata", "readonly": True}}),
        f"{DISKS}[0].disk.bus",
        "sata hard-disks do not support read-only.",
    ),
    "a thread for sata": (
        disks({"name": "a", "disk": {"bus": "sata"}, "dedicatedIOThread": True}),
        f"{DISKS}[0].disk.bus",
        "IOThreads are not supported for disks on a sata bus",
    ),
    "a serial with a space": (
        disks({"name": "a", "serial": "a b"}),
        f"{DISKS}[0].serial",
        f"{DISKS}[0].serial must be made up of the following characters [A-Za-z0-9_.+-], if specified",
    ),
    "a long serial": (
        disks({"name": "a", "serial": "1" * 257}),
        f"{DISKS}[0].serial",
        f"{DISKS}[0].serial must be less than or equal to 256 in length, if specified",
    ),
    "a cache": (
        disks({"name": "a", "cache": "fast"}),
        f"{DISKS}[0].cache",
        f"{DISKS}[0].cache has invalid value fast",
    ),
    "no volume": (
        disks({"name": "a"}, volumes=[{"name": "b", **IMAGE}]),
        f"{DISKS}[0].name",
        f"{DISKS}[0].name 'a' not found.",
    ),
    "an io mode": (
        disks({"name": "a", "io": "fast"}),
        f"{DISKS}[0].io",
        f"Disk IO mode for {DISKS}[0].io is not supported. Supported modes are: native, threads.",
    ),
    "a tray": (
        disks({"name": "a", "cdrom": {"tray": "ajar"}}),
        f"{DISKS}[0].cdrom.tray",
        f"{DISKS}[0].cdrom.tray has invalid value 'ajar', allowed are 'open' or 'closed'",
    ),
    "a lun on an image": (
        disks({"name": "a", "lun": {"bus": "scsi"}}),
        f"{DISKS}[0].lun",
        f"{DISKS}[0].lun can only be mapped to a PersistentVolumeClaim volume.",
    ),
    "a read-only claim on sata": (
        disks(
            {"name": "a", "disk": {"bus": "sata"}},
            volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}}],
        ),
        f"{DISKS}[0].disk.bus",
        "sata hard-disks do not support read-only.",
    ),
    "an error policy": (
        disks({"name": "a", "errorPolicy": "panic"}),
        f"{DISKS}[0].errorPolicy",
        (
            f'{DISKS}[0].errorPolicy has invalid value "panic". Should be one of '
            "'stop, ignore, report, enospace'"
        ),
    ),
    "a shared cache": (
        disks({"name": "a", "shareable": True, "cache": "writeback"}),
        f"{DISKS}[0].cache",
        "a sharable disk requires cache = none got: writeback",
    ),
    "a PCI address on sata": (
        disks({"name": "a", "disk": {"bus": "sata", "pciAddress": "0000:08:00.0"}}),
        f"{DISKS}[0].disk.pciAddress",
        "disk a - setting a PCI address is only possible with bus type virtio.",
    ),
    "no PCI address": (
        disks({"name": "a", "disk": {"bus": "virtio", "pciAddress": "8"}}),
        f"{DISKS}[0].disk.pciAddress",
        "disk a has malformed PCI address (8).",
    ),
    "two block sizes": (
        disks(
            {
                "name": "a",
                "blockSize": {"custom": {"logical": 512, "physical": 512}, "matchVolume": {}},
            }
        ),
        f"{DISKS}[0].blockSize",
        "Block size matching can't be enabled together with a custom value",
    ),
    "an odd block": (
        disks({"name": "a", "blockSize": {"custom": {"logical": 513, "physical": 4096}}}),
        f"{DISKS}[0].blockSize.custom.logical",
        "Provided size of 513 is not a power of 2 as required",
    ),
    "a large logical block": (
        disks({"name": "a", "blockSize": {"custom": {"logical": 4096, "physical": 512}}}),
        f"{DISKS}[0].blockSize.custom.logical",
        "Logical size 4096 must be the same or less than the physical size of 512",
    ),
}

VOLUME: dict[str, Case] = {
    "two sources": (
        volume(**IMAGE, emptyDisk={"capacity": "1Gi"}),
        "spec.volumes[0]",
        "spec.volumes[0] must have exactly one source type set",
    ),
    "no source": (
        volume(),
        "spec.volumes[0]",
        "spec.volumes[0] must have exactly one source type set",
    ),
    "a DataVolume without name": (
        volume(dataVolume={"name": ""}),
        "spec.volumes[0].dataVolume.name",
        "DataVolume 'name' must be set",
    ),
    "twin volumes": (
        {"volumes": [{"name": "a", **IMAGE}, {"name": "a", **IMAGE}]},
        "spec.volumes[1].name",
        "spec.volumes[1].name and spec.volumes[0].name must not have the same Name.",
    ),
    "no label": (
        {"volumes": [{"name": "A_b", **IMAGE}]},
        "spec.volumes[0].name",
        f"spec.volumes[0].name 'A_b': {DNS_LABEL}",
    ),
    "much user data": (
        cloud_init(userData="x" * 2049),
        "spec.volumes[0].cloudInitNoCloud",
        (
            "spec.volumes[0].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use "
            "UserDataSecretRef for larger data."
        ),
    ),
    "much encoded user data": (
        cloud_init(userDataBase64="eHh4" * 683),
        "spec.volumes[0].cloudInitNoCloud",
        (
            "spec.volumes[0].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use "
            "UserDataSecretRef for larger data."
        ),
    ),
    "much network data": (
        volume(cloudInitConfigDrive={"networkData": "ä" * 1025}),
        "spec.volumes[0].cloudInitConfigDrive",
        (
            "spec.volumes[0].cloudInitConfigDrive networkdata exceeds 2048 byte limit. Should use "
            "NetworkDataSecretRef for larger data."
        ),
    ),
    "two kinds of user data": (
        cloud_init(userData="a", secretRef={"name": "s"}),
        "spec.volumes[0].cloudInitNoCloud",
        "spec.volumes[0].cloudInitNoCloud must have only one userdatasource set.",
    ),
    "two kinds of network data": (
        cloud_init(networkData="a", networkDataSecretRef={"name": "s"}),
        "spec.volumes[0].cloudInitNoCloud",
        "spec.volumes[0].cloudInitNoCloud must have only one networkdata source set.",
    ),
    "no data": (
        cloud_init(),
        "spec.volumes[0].cloudInitNoCloud",
        (
            "spec.volumes[0].cloudInitNoCloud must have at least one userdatasource or one "
            "networkdatasource set."
        ),
    ),
    "no base64": (
        cloud_init(userDataBase64="#!"),
        "spec.volumes[0].cloudInitNoCloud.userDataBase64",
        "spec.volumes[0].cloudInitNoCloud.userDataBase64 is not a valid base64 value.",
    ),
    "a file of the node": (
        volume(hostDisk={"path": "/a", "type": "Disk"}),
        "spec.volumes[0]",
        "HostDisk feature gate is not enabled",
    ),
    "metrics of the node": (
        volume(downwardMetrics={}),
        "spec.volumes[0]",
        "downwardMetrics disks are not allowed: DownwardMetrics feature gate is not enabled.",
    ),
    "two cloud-inits": (
        {
            "volumes": [
                {"name": "a", "cloudInitNoCloud": {"userData": "a"}},
                {"name": "b", "cloudInitNoCloud": {"userData": "a"}},
            ]
        },
        "spec.volumes",
        "spec.volumes must have max one cloudInit volume set",
    ),
    "two service accounts": (
        {
            "volumes": [
                {"name": "a", "serviceAccount": {"serviceAccountName": "a"}},
                {"name": "b", "serviceAccount": {"serviceAccountName": "a"}},
            ]
        },
        "spec.volumes",
        "spec.volumes must have max one serviceAccount volume set",
    ),
    "an answer file from nowhere": (
        volume(sysprep={}),
        "spec.volumes[0].sysprep",
        "spec.volumes[0].sysprep must have either secret or configMap set with a name, not both",
    ),
    "a way out of the image": (
        volume(containerDisk={"image": "a:1", "path": "/disk/../../etc/shadow"}),
        "spec.volumes[0].containerDisk",
        "spec.volumes[0].containerDisk must not contain '..' and name a file",
    ),
}

CASES = DISK | VOLUME


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_refusal_names_the_field_and_the_reason(case: Case) -> None:
    patch, field, message = case
    assert (field, message) in said(written(patch))


def test_a_file_of_the_node_needs_its_gate_and_a_type() -> None:
    open_gate = gated("HostDisk")
    assert written(volume(hostDisk={"path": "/a", "type": "Disk"}), open_gate) == ()
    assert said(written(volume(hostDisk={"path": "/a", "type": "disk"}), open_gate)) == [
        (
            "spec.volumes[0].hostDisk.type",
            (
                "spec.volumes[0].hostDisk.type has invalid value 'disk', allowed are 'DiskOrCreate' or "
                "'Disk'"
            ),
        )
    ]
    no_size = volume(hostDisk={"path": "/a", "type": "DiskOrCreate"})
    assert [cause.field for cause in written(no_size, open_gate)] == [
        "spec.volumes[0].hostDisk.capacity"
    ]
