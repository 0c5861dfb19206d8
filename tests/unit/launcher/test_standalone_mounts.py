"""What a kubelet would mount: claims by path, contents by name."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import UserError
from kubevirt.components.launcher.standalone import mounts
from kubevirt.components.launcher.standalone.manifest import Manifest
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.location import block_volumes

LAYOUT = Layout()


def a_guest(*volumes: dict[str, Any], **spec: Any) -> VirtualMachineInstance:
    raw = {
        "metadata": {"name": "testvm", "namespace": "here", "uid": "1", "labels": {"a": 'b"c'}},
        "spec": {"domain": {"devices": {}}, "volumes": volumes, **spec},
    }
    return msgspec.convert(raw, VirtualMachineInstance)


def contents(*volumes: dict[str, Any], **spec: Any) -> dict[str, bytes]:
    found = Manifest(
        vmi=a_guest(*volumes, **spec),
        config_maps={"settings": {"colour": b"green"}},
        secrets={"keys": {"key": b"1"}, "net": {"networkdata": b"2"}},
    )
    return dict(mounts.contents(found, LAYOUT))


def claim(name: str = "data", **more: Any) -> dict[str, Any]:
    return {"name": "disk", "persistentVolumeClaim": {"claimName": name, **more}}


# Contents.


@pytest.mark.parametrize(
    ("volume", "files"),
    [
        ({"configMap": {"name": "settings"}}, {"config-map/v/colour": b"green"}),
        ({"secret": {"secretName": "keys"}}, {"secret/v/key": b"1"}),
        ({"sysprep": {"configMap": {"name": "settings"}}}, {"sysprep/v/colour": b"green"}),
        ({"sysprep": {"secret": {"name": "keys"}}}, {"sysprep/v/key": b"1"}),
        (
            {
                "cloudInitNoCloud": {
                    "secretRef": {"name": "keys"},
                    "networkDataSecretRef": {"name": "net"},
                }
            },
            {"secret/v/key": b"1", "network-data/v/networkdata": b"2"},
        ),
        ({"configMap": {"name": "none", "optional": True}}, {}),
        (
            {
                "downwardAPI": {
                    "fields": [
                        {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                        {"path": "name", "fieldRef": {"fieldPath": "metadata.name"}},
                    ]
                }
            },
            {"downwardapi/v/labels": b'a="b\\"c"', "downwardapi/v/name": b"testvm"},
        ),
    ],
)
def test_contents_lie_where_the_launcher_reads_them(
    volume: dict[str, Any], files: dict[str, bytes]
) -> None:
    found = contents({"name": "v", **volume})
    assert found == {f"{LAYOUT.private}/{path}": data for path, data in files.items()}


def test_a_key_for_logging_in_comes_from_its_secret() -> None:
    source = {"secret": {"secretName": "keys"}}
    access = [{"sshPublicKey": {"source": source, "propagationMethod": {"noCloud": {}}}}]
    found = contents(accessCredentials=access)
    assert found == {f"{LAYOUT.private}/secret/keys-access-cred/key": b"1"}


@pytest.mark.parametrize(
    ("volume", "sentence"),
    [
        (
            {"configMap": {"name": "none"}},
            (
                "volume 'v' needs the ConfigMap 'none'; put it into the same file, behind a line of "
                "three dashes"
            ),
        ),
        (
            {"serviceAccount": {"serviceAccountName": "me"}},
            (
                "volume 'v' shows a service account's token, and without a cluster there is none; "
                "remove the volume and its disk"
            ),
        ),
        (
            {"downwardAPI": {"fields": [{"path": "x", "fieldRef": {"fieldPath": "status.podIP"}}]}},
            (
                "volume 'v' shows 'status.podIP', which there is not without a cluster; use one of "
                "metadata.name, metadata.namespace, metadata.uid, metadata.labels, "
                "metadata.annotations"
            ),
        ),
    ],
)
def test_what_is_not_there_is_told_with_the_way_out(volume: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        contents({"name": "v", **volume})
    assert str(refused.value) == sentence


# Claims.


def test_a_file_stands_for_a_claim(tmp_path: Path) -> None:
    file = tmp_path / "data.img"
    file.write_bytes(bytes(512))
    expected = Mount(source=file, target=LAYOUT.claim_file("disk"), read_only=False, is_lent=True)
    assert mounts.claims(a_guest(claim()), {"data": file}, LAYOUT) == (expected,)


def test_a_folder_stands_for_the_disk_in_it(tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(bytes(512))
    (found,) = mounts.claims(a_guest(claim(readOnly=True)), {"data": tmp_path}, LAYOUT)
    assert found.source == tmp_path / "disk.img"
    assert found.read_only


def test_a_block_device_is_told_to_the_launcher_as_one() -> None:
    mount = Mount(source=Path("/dev/sdb"), target=LAYOUT.claim_device("disk"), is_device=True)
    vmi = mounts.with_claims(a_guest(claim()), (mount,), LAYOUT)
    assert block_volumes(vmi) == {"disk"}


def test_a_data_volume_is_a_claim_and_an_ephemeral_one_is_never_written(tmp_path: Path) -> None:
    file = tmp_path / "data.img"
    file.write_bytes(bytes(512))
    vmi = a_guest(
        {"name": "one", "dataVolume": {"name": "data"}},
        {"name": "two", "ephemeral": {"persistentVolumeClaim": {"claimName": "data"}}},
    )
    found = mounts.claims(vmi, {"data": file}, LAYOUT)
    assert [mount.read_only for mount in found] == [False, True]


def test_a_host_disk_is_made_if_it_says_so_and_never_given_away(tmp_path: Path) -> None:
    path = tmp_path / "new.img"
    disk = {"path": str(path), "type": "DiskOrCreate", "capacity": "1Mi"}
    (found,) = mounts.claims(a_guest({"name": "disk", "hostDisk": disk}), {}, LAYOUT)
    assert found.create_bytes == 1 << 20
    path.write_bytes(bytes(512))
    (found,) = mounts.claims(a_guest({"name": "disk", "hostDisk": disk}), {}, LAYOUT)
    assert found.create_bytes is None
    assert not found.is_lent


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (
            None,
            (
                "volume 'disk' needs the claim 'data'; say where its disk is with "
                "--volume data=PATH (a file, a block device, or a folder with disk.img)"
            ),
        ),
        ("none", "the claim 'data' is to be {}/none, which is not there"),
        ("folder", "the claim 'data' is to be {}/folder/disk.img, which is not there"),
        (
            "qcow2",
            (
                "the claim 'data' is {}/qcow2, a qcow2 image, and the disk of a claim is raw; "
                "convert it with: qemu-img convert -O raw {}/qcow2 disk.img"
            ),
        ),
        (
            "/dev/null",
            "the claim 'data' is to be /dev/null, which is neither a file nor a block device",
        ),
    ],
)
def test_a_claim_that_cannot_be_used_is_told_with_the_way_out(
    path: str | None, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "qcow2").write_bytes(b"QFI\xfb\x00\x00\x00\x03")
    given = {} if path is None else {"data": tmp_path / path}
    with pytest.raises(UserError) as refused:
        mounts.claims(a_guest(claim()), given, LAYOUT)
    assert str(refused.value) == sentence.replace("{}", str(tmp_path))
