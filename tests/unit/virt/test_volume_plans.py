"""Volumes: which file must exist where, and that the domain opens that very file."""

from typing import Any

import pytest
from tests.unit.virt.domain_cases import a_vmi

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.convert.conversion import convert
from kubevirt.virt.convert.facts import BackingFacts, Facts, VolumeFacts
from kubevirt.virt.errors import SpecError
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.folders import Folder, folders_to_read
from kubevirt.virt.volumes.plan import (
    BlankDisk,
    ExistingDisk,
    HostImage,
    IsoImage,
    MetricsDisk,
    Overlay,
    VolumePlan,
)
from kubevirt.virt.volumes.planning import Contents, plan_volumes

LAYOUT = Layout()
ANSWERS = {"Autounattend.xml": b"<unattend/>"}


def with_volumes(*volumes: dict[str, Any], **spec: Any) -> VirtualMachineInstance:
    return a_vmi({"spec": {"volumes": list(volumes), **spec}})


def the_plan(
    volume: dict[str, Any], contents: Contents | None = None, *, block: bool = False
) -> VolumePlan:
    vmi = with_volumes({"name": "root", **volume})
    (plan,) = plan_volumes(vmi, LAYOUT, contents, frozenset({"root"}) if block else None)
    return plan


def test_a_container_disk_is_an_overlay_above_the_image_of_its_place() -> None:
    vmi = with_volumes(
        {"name": "scratch", "emptyDisk": {"capacity": "1Gi"}},
        {"name": "root", "containerDisk": {"image": "some/image"}},
    )
    assert plan_volumes(vmi, LAYOUT)[1] == Overlay(
        volume="root",
        path="/var/run/kubevirt-ephemeral-disks/disk-data/root/disk.qcow2",
        backing="/var/run/kubevirt/container-disks/disk_1.img",
    )


def test_a_container_disk_may_be_found_elsewhere() -> None:
    contents = Contents(images={"root": "/var/run/kubevirt-image-volume/disk_0/disk/a.img"})
    plan = the_plan({"containerDisk": {"image": "some/image"}}, contents)
    assert isinstance(plan, Overlay)
    assert plan.backing == "/var/run/kubevirt-image-volume/disk_0/disk/a.img"


def test_the_format_of_a_container_disk_is_looked_at_not_guessed() -> None:
    plan = the_plan({"containerDisk": {"image": "some/image"}})
    assert isinstance(plan, Overlay)
    assert plan.backing_format is None


@pytest.mark.parametrize(
    ("mode", "backing"),
    [
        ("Filesystem", "/var/run/kubevirt-private/vmi-disks/root/disk.img"),
        ("Block", "/dev/root"),
    ],
)
def test_an_ephemeral_volume_leaves_the_claim_as_it_is(mode: str, backing: str) -> None:
    block = mode == "Block"
    plan = the_plan({"ephemeral": {"persistentVolumeClaim": {"claimName": "base"}}}, block=block)
    assert plan == Overlay(
        volume="root",
        path="/var/run/kubevirt-ephemeral-disks/disk-data/root/disk.qcow2",
        backing=backing,
        backing_format="raw",
        backing_is_block=block,
    )


def test_an_empty_disk_has_its_capacity_in_bytes() -> None:
    assert the_plan({"emptyDisk": {"capacity": "1500M"}}) == BlankDisk(
        volume="root",
        path="/var/run/kubevirt-ephemeral-disks/empty-disks/root.qcow2",
        size_bytes=1_500_000_000,
    )


def test_an_empty_disk_without_room_is_refused() -> None:
    with pytest.raises(SpecError, match="capacity of volume 'root' is '0', which is no size"):
        the_plan({"emptyDisk": {"capacity": "0"}})


def test_a_claim_is_a_file_or_a_device_as_the_status_tells() -> None:
    vmi = a_vmi(
        {
            "spec": {
                "volumes": [
                    {"name": "file", "persistentVolumeClaim": {"claimName": "a", "readOnly": True}},
                    {"name": "block", "dataVolume": {"name": "b"}},
                ]
            },
            "status": {
                "volumeStatus": [
                    {
                        "name": "block",
                        "target": "",
                        "persistentVolumeClaimInfo": {"volumeMode": "Block"},
                    },
                    {"name": "file", "target": ""},
                ]
            },
        }
    )
    assert plan_volumes(vmi, LAYOUT) == (
        ExistingDisk(
            volume="file",
            path="/var/run/kubevirt-private/vmi-disks/file/disk.img",
            read_only=True,
        ),
        ExistingDisk(volume="block", path="/dev/block", is_block=True),
    )


def test_a_host_disk_keeps_its_file_name() -> None:
    plan = the_plan({"hostDisk": {"type": "Disk", "path": "/data/guests/a.img", "shared": True}})
    path = "/var/run/kubevirt-private/vmi-disks/root/a.img"
    assert plan == HostImage(volume="root", path=path, shared=True)


def test_a_host_disk_can_be_created() -> None:
    disk = {"type": "DiskOrCreate", "path": "/data/a.img", "capacity": "1Gi"}
    plan = the_plan({"hostDisk": disk})
    assert isinstance(plan, HostImage)
    assert plan.create
    assert plan.size_bytes == 1024**3


@pytest.mark.parametrize(
    ("disk", "sentence"),
    [
        ({"type": "Folder", "path": "/a.img"}, "allowed are 'Disk' or 'DiskOrCreate'"),
        ({"type": "DiskOrCreate", "path": "/a.img"}, "is to be created but has no size"),
        ({"type": "Disk", "path": "/data/.."}, "the host disk '..' cannot be used as a name"),
        ({"type": "Disk", "path": "/"}, "the host disk '' cannot be used as a name"),
    ],
)
def test_a_host_disk_that_cannot_be_is_refused(disk: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        the_plan({"hostDisk": disk})


def test_metrics_have_a_disk_of_their_own() -> None:
    path = "/var/run/kubevirt-private/downwardapi-disks/vhostmd0"
    assert the_plan({"downwardMetrics": {}}) == MetricsDisk(volume="root", path=path)


@pytest.mark.parametrize(
    ("volume", "path"),
    [
        ({"configMap": {"name": "x"}}, "config-map-disks/root.iso"),
        ({"secret": {"secretName": "x"}}, "secret-disks/root.iso"),
        ({"downwardAPI": {"fields": []}}, "downwardapi-disks/root.iso"),
        (
            {"serviceAccount": {"serviceAccountName": "x"}},
            "service-account-disk/service-account.iso",
        ),
    ],
)
def test_configuration_becomes_an_image_with_its_files(volume: dict[str, Any], path: str) -> None:
    contents = Contents(volumes={"root": {"b": b"2", "a": b"1"}})
    plan = the_plan(volume, contents)
    assert plan == IsoImage(
        volume="root",
        path=f"/var/run/kubevirt-private/{path}",
        label="cfgdata",
        files={"a": b"1", "b": b"2"},
    )
    assert isinstance(plan, IsoImage)
    assert list(plan.files) == ["a", "b"]


def test_a_label_can_be_chosen() -> None:
    plan = the_plan({"configMap": {"name": "x", "volumeLabel": "OEMDRV"}})
    assert isinstance(plan, IsoImage)
    assert plan.label == "OEMDRV"


def test_answers_for_windows_are_recognised_in_any_case() -> None:
    plan = the_plan({"sysprep": {"secret": {"name": "x"}}}, Contents(volumes={"root": ANSWERS}))
    path = "/var/run/kubevirt-private/sysprep-disks/root.iso"
    assert plan == IsoImage(volume="root", path=path, label="unattendCD", files=ANSWERS)


@pytest.mark.parametrize(
    ("volume", "files", "sentence"),
    [
        (
            {"sysprep": {}},
            {"readme": b""},
            "should contain autounattend.xml or unattend.xml but neither",
        ),
        ({"configMap": {"volumeLabel": "x" * 33}}, {}, "a label has at most 32"),
        ({"configMap": {"volumeLabel": "a\nb"}}, {}, r"has volumeLabel 'a\\nb'"),
        ({"configMap": {}}, {"../x": b""}, "has a key '../x' that cannot name a file"),
        ({"secret": {}}, {"..": b""}, "has a key '..' that cannot name a file"),
        ({"secret": {}}, {"x": bytes(4 * 1024**2 + 1)}, "4194304 are the most"),
        ({"secret": {}}, {str(n): b"" for n in range(1001)}, "has 1001 files; 1000 are the most"),
    ],
)
def test_contents_that_a_guest_cannot_have_are_refused(
    volume: dict[str, Any], files: dict[str, bytes], sentence: str
) -> None:
    with pytest.raises(SpecError, match=sentence):
        the_plan(volume, Contents(volumes={"root": files}))


def test_places_in_the_launcher_are_no_disks() -> None:
    vmi = with_volumes(
        {"name": "dump", "memoryDump": {"claimName": "x"}},
        {"name": "share", "containerPath": {"path": "/data"}},
    )
    assert plan_volumes(vmi, LAYOUT) == ()


def test_the_host_side_is_told_which_folders_to_read() -> None:
    key = {"propagationMethod": {"noCloud": {}}, "source": {"secret": {"secretName": "keys"}}}
    vmi = with_volumes(
        {"name": "a", "configMap": {"name": "x", "optional": True}},
        {"name": "b", "secret": {"secretName": "x"}},
        {"name": "c", "downwardAPI": {"fields": []}},
        {"name": "d", "serviceAccount": {"serviceAccountName": "x"}},
        {"name": "e", "sysprep": {}},
        {"name": "f", "cloudInitNoCloud": {"secretRef": {"name": "x"}}},
        {"name": "g", "cloudInitConfigDrive": {"userData": "x"}},
        {"name": "h", "emptyDisk": {"capacity": "1Gi"}},
        accessCredentials=[
            {"sshPublicKey": key},
            {"sshPublicKey": key},
            {"sshPublicKey": {**key, "source": {}}},
            {"userPassword": {"propagationMethod": {}, "source": {}}},
        ],
    )
    private = "/var/run/kubevirt-private"
    assert folders_to_read(vmi, LAYOUT) == (
        Folder(path=f"{private}/config-map/a", volume="a", optional=True),
        Folder(path=f"{private}/secret/b", volume="b"),
        Folder(path=f"{private}/downwardapi/c", volume="c"),
        Folder(path="/var/run/secrets/kubernetes.io/serviceaccount", volume="d"),
        Folder(path=f"{private}/sysprep/e", volume="e"),
        Folder(path=f"{private}/secret/f", volume="f"),
        Folder(path=f"{private}/secret/keys-access-cred", credential="keys"),
    )


EVERY_DISK: tuple[dict[str, Any], ...] = (
    {"name": "container", "containerDisk": {"image": "x"}},
    {"name": "nocloud", "cloudInitNoCloud": {"userData": "x"}},
    {"name": "drive", "cloudInitConfigDrive": {"userData": "x"}},
    {"name": "claim", "persistentVolumeClaim": {"claimName": "x"}},
    {"name": "blockclaim", "persistentVolumeClaim": {"claimName": "y"}},
    {"name": "data", "dataVolume": {"name": "x"}},
    {"name": "ephemeral", "ephemeral": {"persistentVolumeClaim": {"claimName": "x"}}},
    {"name": "empty", "emptyDisk": {"capacity": "1Gi"}},
    {"name": "host", "hostDisk": {"type": "Disk", "path": "/a.img"}},
    {"name": "config", "configMap": {"name": "x"}},
    {"name": "secret", "secret": {"secretName": "x"}},
    {"name": "downward", "downwardAPI": {"fields": []}},
    {"name": "account", "serviceAccount": {"serviceAccountName": "x"}},
    {"name": "sysprep", "sysprep": {}},
    {"name": "metrics", "downwardMetrics": {}},
)


def test_the_domain_opens_what_the_plans_make() -> None:
    disks = [{"name": volume["name"], "disk": {"bus": "virtio"}} for volume in EVERY_DISK]
    vmi = a_vmi({"spec": {"volumes": EVERY_DISK, "domain": {"devices": {"disks": disks}}}})
    contents = Contents(volumes={"sysprep": ANSWERS})
    plans = {
        plan.volume: plan for plan in plan_volumes(vmi, LAYOUT, contents, frozenset({"blockclaim"}))
    }
    backing = VolumeFacts(backing=BackingFacts(path="/base", format="raw"))
    facts = Facts(
        volumes={
            "container": backing,
            "ephemeral": backing,
            "blockclaim": VolumeFacts(is_block=True),
        }
    )
    for disk in convert(vmi, facts).domain.devices.disks:
        assert disk.alias is not None
        assert disk.source is not None
        plan = plans.pop(disk.alias.name.removeprefix("ua-"))
        assert plan.path == (disk.source.file or disk.source.dev)
        assert (disk.type == "block") == getattr(plan, "is_block", False)
    assert not plans
