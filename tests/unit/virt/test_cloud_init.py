"""cloud-init: what a new guest reads about itself, and what is refused."""

import base64
import json
from typing import Any

import pytest
from tests.unit.virt.domain_cases import a_vmi

from kubevirt.virt.errors import SpecError
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.cloud_init import TaggedDevice
from kubevirt.virt.volumes.plan import IsoImage
from kubevirt.virt.volumes.planning import Contents, plan_volumes


def the_image(
    source: dict[str, Any],
    contents: Contents | None = None,
    *,
    kind: str = "cloudInitNoCloud",
    **patch: Any,
) -> IsoImage:
    spec = {"volumes": [{"name": "init", kind: source}], **patch.pop("spec", {})}
    (plan,) = plan_volumes(a_vmi({"spec": spec, **patch}), Layout(), contents)
    assert isinstance(plan, IsoImage)
    return plan


def test_no_cloud_has_metadata_and_user_data() -> None:
    image = the_image({"userData": "#cloud-config\n"})
    assert image.label == "cidata"
    assert image.path == (
        "/var/run/kubevirt-ephemeral-disks/cloud-init-data/default/testvm/noCloud.iso"
    )
    assert image.files == {
        "meta-data": json.dumps(
            {"instance-id": "e4686d2c-6e8d-4335-b8fd-81bee22f4814", "local-hostname": "testvm"},
            separators=(",", ":"),
        ).encode(),
        "user-data": b"#cloud-config\n",
    }


def test_network_data_has_a_file_of_its_own() -> None:
    image = the_image({"networkDataBase64": base64.b64encode(b"version: 2").decode()})
    assert image.files["network-config"] == b"version: 2"
    assert image.files["user-data"] == b""


def test_the_data_of_the_mission_is_let_through() -> None:
    assert the_image({"userDataBase64": "SGkuXG4="}).files["user-data"] == b"Hi.\\n"


def test_base64_may_be_printed_in_lines() -> None:
    assert the_image({"userDataBase64": "SGku\nXG4=\n"}).files["user-data"] == b"Hi.\\n"


def test_a_config_drive_has_the_layout_of_openstack() -> None:
    device = TaggedDevice(type="nic", bus="pci", address="0000:01:00.0", mac="02::", tags=("fast",))
    image = the_image(
        {"userData": "#cloud-config", "networkData": "{}"},
        Contents(devices=(device,)),
        kind="cloudInitConfigDrive",
        metadata={"annotations": {"kubevirt.io/instancetype-name": "u1.small"}},
        spec={"hostname": "fancy"},
    )
    assert image.label == "config-2"
    assert image.path.endswith("/default/testvm/configdrive.iso")
    assert image.files["openstack/latest/user_data"] == b"#cloud-config"
    assert image.files["openstack/latest/network_data.json"] == b"{}"
    assert json.loads(image.files["openstack/latest/meta_data.json"]) == {
        "instance_type": "u1.small",
        "instance_id": "testvm.default",
        "local_hostname": "fancy",
        "hostname": "fancy",
        "uuid": "e4686d2c-6e8d-4335-b8fd-81bee22f4814",
        "devices": [
            {
                "type": "nic",
                "bus": "pci",
                "address": "0000:01:00.0",
                "mac": "02::",
                "tags": ["fast"],
            }
        ],
    }


def test_a_config_drive_without_network_data_has_no_file_for_it() -> None:
    image = the_image({"userData": "x"}, kind="cloudInitConfigDrive")
    assert set(image.files) == {"openstack/latest/meta_data.json", "openstack/latest/user_data"}


def test_a_cluster_instancetype_wins_over_a_namespaced_one() -> None:
    annotations = {
        "kubevirt.io/instancetype-name": "small",
        "kubevirt.io/cluster-instancetype-name": "large",
    }
    image = the_image({"userData": "x"}, metadata={"annotations": annotations})
    assert json.loads(image.files["meta-data"])["instance-type"] == "large"


def test_data_from_a_secret_may_be_large() -> None:
    source = {"secretRef": {"name": "x"}, "networkDataSecretRef": {"name": "x"}}
    secret = {"userdata": b"x" * 5000, "networkData": b"y" * 5000}
    image = the_image(source, Contents(volumes={"init": secret}))
    assert image.files["user-data"] == secret["userdata"]
    assert image.files["network-config"] == secret["networkData"]


def test_ssh_keys_come_from_secrets_by_the_way_that_was_asked() -> None:
    def credential(secret: str, method: str) -> dict[str, Any]:
        source = {"secret": {"secretName": secret}}
        return {"sshPublicKey": {"propagationMethod": {method: {}}, "source": source}}

    contents = Contents(
        credentials={
            "mine": {"b": b"ssh-ed25519 B\n", "a": b"ssh-ed25519 A", "empty": b" "},
            "other": {"c": b"ssh-ed25519 C"},
        }
    )
    credentials = [
        credential("mine", "noCloud"),
        credential("other", "configDrive"),
        credential("missing", "noCloud"),
        {"userPassword": {"propagationMethod": {}, "source": {}}},
    ]
    spec = {"accessCredentials": credentials}
    image = the_image({"userData": "x"}, contents, spec=spec)
    keys = json.loads(image.files["meta-data"])["public-keys"]
    assert keys == {"0": "ssh-ed25519 A", "1": "ssh-ed25519 B"}
    drive = the_image({"userData": "x"}, contents, kind="cloudInitConfigDrive", spec=spec)
    keys = json.loads(drive.files["openstack/latest/meta_data.json"])["public_keys"]
    assert keys == {"0": "ssh-ed25519 C"}


def test_markup_in_a_name_cannot_leave_the_metadata() -> None:
    image = the_image({"userData": "x"}, spec={"hostname": 'a","instance-id":"b'})
    assert json.loads(image.files["meta-data"])["local-hostname"] == 'a","instance-id":"b'


@pytest.mark.parametrize(
    ("source", "secret", "sentence"),
    [
        (
            {"userData": "x" * 2049},
            {},
            r"spec.volumes\[0\].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use User",
        ),
        (
            {"networkDataBase64": base64.b64encode(b"x" * 2049).decode()},
            {},
            "networkdata exceeds 2048 byte limit. Should use NetworkDataSecretRef for larger data.",
        ),
        (
            {"userDataBase64": "no base64!"},
            {},
            r"spec.volumes\[0\].cloudInitNoCloud.userDataBase64 is not a valid base64 value.",
        ),
        ({"userDataBase64": "ä"}, {}, "is not a valid base64 value"),
        ({"userData": "x", "userDataBase64": "eA=="}, {}, "must have only one userdatasource set."),
        (
            {"networkData": "x", "networkDataBase64": "eA=="},
            {},
            "must have only one networkdata source set.",
        ),
        ({}, {}, "must have at least one userdatasource or one networkdatasource set."),
        ({"secretRef": {"name": "x"}}, {}, "its Secret lacks the keys userdata and networkdata"),
        (
            {"secretRef": {"name": "x"}},
            {"userdata": b"x" * (1024**2 + 1)},
            "the Secret's userdata has more than 1048576 bytes",
        ),
    ],
)
def test_data_that_cannot_be_given_is_refused(
    source: dict[str, Any], secret: dict[str, bytes], sentence: str
) -> None:
    with pytest.raises(SpecError, match=sentence) as refusal:
        the_image(source, Contents(volumes={"init": secret}))
    assert refusal.value.reason == "InvalidCloudInit"


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ({"key": b"\xff"}, "the SSH key 'key' of an access credential is no text"),
        ({str(n): b"ssh" for n in range(257)}, "257 SSH keys are given; 256 are the most"),
    ],
)
def test_keys_that_are_none_are_refused(entries: dict[str, bytes], sentence: str) -> None:
    key = {"propagationMethod": {"noCloud": {}}, "source": {"secret": {"secretName": "keys"}}}
    contents = Contents(credentials={"keys": entries})
    with pytest.raises(SpecError, match=sentence):
        the_image({"userData": "x"}, contents, spec={"accessCredentials": [{"sshPublicKey": key}]})


def test_exactly_the_limit_is_allowed() -> None:
    assert the_image({"userData": "x" * 2048}).files["user-data"] == b"x" * 2048
