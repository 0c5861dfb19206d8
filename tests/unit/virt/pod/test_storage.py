"""Volumes: what is mounted where, held against the places in which the launcher looks."""

from typing import Any

import pytest
from tests.unit.virt.domain_cases import a_vmi
from tests.unit.virt.pod.cases import UID, a_config, a_pod, compute, mounts, spec_of, words

from kubevirt.api.core.container import ResourceRequirements
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.pod_volumes import Volume
from kubevirt.api.domain import ResourceRequirementsWithoutClaims
from kubevirt.virt.errors import SpecError, UnsupportedError
from kubevirt.virt.layout import Layout
from kubevirt.virt.pod.folders import OURS
from kubevirt.virt.pod.rendering import render
from kubevirt.virt.volumes.folders import folders_to_read

PRIVATE = "/var/run/kubevirt-private"
CLAIM = {"persistentVolumeClaim": {"claimName": "data"}}
IMAGE = {"containerDisk": {"image": "some/disk:v1"}}


def with_volumes(*volumes: dict[str, Any], **settings: Any) -> Pod:
    return a_pod({"volumes": list(volumes)}, **settings)


def the_volume(pod: Pod, name: str = "root") -> Volume:
    (found,) = (each for each in spec_of(pod).volumes if each.name == name)
    return found


def test_a_launcher_has_folders_of_its_own() -> None:
    assert mounts(a_pod()) == {
        PRIVATE: "private",
        "/var/run/kubevirt": "public",
        "/var/run/kubevirt/sockets": "sockets",
        "/var/run/libvirt": "libvirt-runtime",
        "/var/run/kubevirt-ephemeral-disks": "ephemeral-disks",
        "/var/run/kubevirt/container-disks": "container-disks",
    }


def test_a_guest_in_huge_pages_has_a_folder_of_them() -> None:
    pod = a_pod({"domain": {"memory": {"guest": "64Mi", "hugepages": {"pageSize": "2Mi"}}}})
    assert mounts(pod)["/dev/hugepages"] == "hugepages"
    source = the_volume(pod, "hugepages").empty_dir
    assert source
    assert source.medium == "HugePages"


@pytest.mark.parametrize(
    "volume",
    [
        {"emptyDisk": {"capacity": "1Gi"}},
        {"cloudInitNoCloud": {"userData": "hello"}},
        {"cloudInitConfigDrive": {"userData": "hello"}},
        {"downwardMetrics": {}},
    ],
    ids=str,
)
def test_what_the_launcher_makes_itself_needs_no_volume(volume: dict[str, Any]) -> None:
    assert mounts(with_volumes({"name": "root", **volume})) == mounts(a_pod())


@pytest.mark.parametrize(
    "source", [CLAIM, {"dataVolume": {"name": "data"}}], ids=["claim", "data volume"]
)
def test_a_claim_is_mounted_or_shown_as_a_device(source: dict[str, Any]) -> None:
    volume = {"name": "root", **source}
    pod = with_volumes(volume)
    assert mounts(pod)[f"{PRIVATE}/vmi-disks/root"] == "root"
    claim = the_volume(pod).persistent_volume_claim
    assert claim
    assert claim.claim_name == "data"
    block = with_volumes(volume, blocks=frozenset({"root"}))
    (device,) = compute(block).volume_devices
    assert (device.name, device.device_path) == ("root", "/dev/root")
    assert mounts(block) == mounts(a_pod())


def test_the_status_tells_which_claims_are_devices() -> None:
    status = {"name": "root", "target": "", "persistentVolumeClaimInfo": {"volumeMode": "Block"}}
    vmi = a_vmi(
        {"spec": {"volumes": [{"name": "root", **CLAIM}]}, "status": {"volumeStatus": [status]}}
    )
    assert compute(render(vmi, a_config())).volume_devices[0].device_path == "/dev/root"


def test_a_claim_that_is_only_read_is_mounted_so() -> None:
    claims = (
        {"persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
        {"ephemeral": {"persistentVolumeClaim": {"claimName": "data"}}},
    )
    for source in claims:
        pod = with_volumes({"name": "root", **source})
        claim = the_volume(pod).persistent_volume_claim
        assert claim
        assert claim.read_only
        assert compute(pod).volume_mounts[-1].read_only


@pytest.mark.parametrize(
    "source",
    [
        {"configMap": {"name": "settings"}},
        {"configMap": {"name": "settings", "optional": True}},
        {"secret": {"secretName": "keys"}},
        {"sysprep": {"configMap": {"name": "answers"}}},
        {"sysprep": {"secret": {"name": "answers"}}},
        {"downwardAPI": {"fields": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"cloudInitNoCloud": {"secretRef": {"name": "user"}}},
        {"cloudInitConfigDrive": {"networkDataSecretRef": {"name": "network"}}},
        {
            "cloudInitNoCloud": {
                "secretRef": {"name": "user"},
                "networkDataSecretRef": {"name": "network"},
            }
        },
    ],
    ids=str,
)
def test_the_launcher_finds_mounted_what_it_reads(source: dict[str, Any]) -> None:
    volume = {"name": "root", **source}
    folders = folders_to_read(a_vmi({"spec": {"volumes": [volume]}}), Layout())
    ours = set(mounts(with_volumes(volume))) - set(mounts(a_pod()))
    assert {folder.path for folder in folders} == ours


def test_two_secrets_of_one_cloud_init_lie_in_two_folders_and_one_in_one() -> None:
    def secrets(user: str, network: str) -> dict[str, str]:
        source = {"secretRef": {"name": user}, "networkDataSecretRef": {"name": network}}
        pod = with_volumes({"name": "root", "cloudInitNoCloud": source})
        found = {each.name: each.secret.secret_name for each in spec_of(pod).volumes if each.secret}
        paths = mounts(pod).items()
        return {path: found[name] or "" for path, name in paths if name in found}

    assert secrets("user", "network") == {
        f"{PRIVATE}/secret/root": "user",
        f"{PRIVATE}/network-data/root": "network",
    }
    assert secrets("both", "both") == {f"{PRIVATE}/secret/root": "both"}


def test_an_optional_object_stays_optional() -> None:
    source = the_volume(
        with_volumes({"name": "root", "secret": {"secretName": "a", "optional": True}})
    )
    assert source.secret
    assert source.secret.optional


def test_credentials_are_mounted_once_for_each_secret() -> None:
    def key(secret: str) -> dict[str, Any]:
        source = {"secret": {"secretName": secret}}
        return {"sshPublicKey": {"source": source, "propagationMethod": {"noCloud": {}}}}

    password = {
        "userPassword": {
            "source": {"secret": {"secretName": "passwords"}},
            "propagationMethod": {"qemuGuestAgent": {}},
        }
    }
    pod = a_pod({"accessCredentials": [key("my.keys"), key("my.keys"), password, {}]})
    found = {path: name for path, name in mounts(pod).items() if path.endswith("-access-cred")}
    layout = Layout()
    assert set(found) == {
        layout.access_credential("my.keys"),
        layout.access_credential("passwords"),
    }
    assert all("." not in name and len(name) <= 63 for name in found.values())
    assert len(set(found.values())) == 2


@pytest.mark.parametrize("secret", ["Keys", "../keys", "a b"])
def test_a_credential_of_a_secret_that_cannot_be_is_refused(secret: str) -> None:
    source = {"secret": {"secretName": secret}}
    key = {"sshPublicKey": {"source": source, "propagationMethod": {"noCloud": {}}}}
    with pytest.raises(SpecError):
        a_pod({"accessCredentials": [key]})


def test_a_host_disk_needs_its_gate_and_shows_the_folder_of_its_file() -> None:
    volume = {"name": "root", "hostDisk": {"path": "/data/disks/a.img", "type": "Disk"}}
    with pytest.raises(UnsupportedError, match="HostDisk feature gate is not enabled"):
        with_volumes(volume)
    pod = with_volumes(volume, host_disks=True)
    source = the_volume(pod).host_path
    assert source
    assert source.path == "/data/disks"
    assert mounts(pod)[f"{PRIVATE}/vmi-disks/root"] == "root"


@pytest.mark.parametrize("path", ["disks/a.img", "/data/../etc/shadow", ""])
def test_a_host_disk_elsewhere_is_refused(path: str) -> None:
    with pytest.raises(SpecError):
        with_volumes({"name": "root", "hostDisk": {"path": path, "type": "Disk"}}, host_disks=True)


@pytest.mark.parametrize(
    "source",
    [
        {"persistentVolumeClaim": {"claimName": "a", "hotpluggable": True}},
        {"dataVolume": {"name": "a", "hotpluggable": True}},
        {"memoryDump": {"claimName": "a"}},
        {"containerPath": {"path": "/a"}},
    ],
    ids=str,
)
def test_what_is_plugged_in_later_is_refused(source: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError, match=r" yet; remove spec\.volumes\[0\]"):
        with_volumes({"name": "root", **source})


@pytest.mark.parametrize(
    "source",
    [{"ephemeral": {}}, {"sysprep": {}}, {**CLAIM, **IMAGE}, {}],
    ids=["ephemeral above nothing", "no answers", "two sources", "no source"],
)
def test_a_volume_without_its_one_source_is_refused(source: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        with_volumes({"name": "root", **source})


@pytest.mark.parametrize("name", [*sorted(OURS), "Root", "a.b", "a/b", "..", "", "x" * 64])
def test_a_volume_name_that_a_pod_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(SpecError):
        with_volumes({"name": name, **CLAIM})


def test_two_volumes_of_one_name_are_refused() -> None:
    with pytest.raises(SpecError, match="is taken"):
        with_volumes({"name": "root", **CLAIM}, {"name": "root", **IMAGE})


def test_names_that_meet_only_in_the_pod_are_refused() -> None:
    with pytest.raises(SpecError, match="volumea-init"):
        with_volumes({"name": "a", **IMAGE}, {"name": "a-init", **IMAGE})


# Container disks, by helpers.


def test_each_container_disk_has_helpers_that_know_its_place_in_the_list() -> None:
    pod = with_volumes({"name": "data", **CLAIM}, {"name": "root", **IMAGE})
    spec = spec_of(pod)
    assert [each.name for each in spec.init_containers] == [
        "container-disk-binary",
        "volumeroot-init",
    ]
    assert [each.name for each in spec.containers] == ["compute", "volumeroot"]
    helper = spec.containers[1]
    folder = f"/var/run/kubevirt-ephemeral-disks/container-disk-data/{UID}"
    assert helper.args == ("--copy-path", f"{folder}/disk_1")
    assert helper.image == "some/disk:v1"
    assert helper.image_pull_policy == "IfNotPresent"
    assert "--image-volume" not in words(pod)


def test_without_container_disks_there_are_no_helpers() -> None:
    spec = spec_of(a_pod())
    assert spec.init_containers == ()
    assert len(spec.containers) == 1
    assert "virt-bin-share-dir" not in {each.name for each in spec.volumes}


def test_names_of_helpers_fit_however_long_the_volumes_are() -> None:
    volumes = ({"name": f"{'x' * 62}{end}", **IMAGE} for end in "ab")
    spec = spec_of(with_volumes(*volumes))
    names = [each.name for each in (*spec.init_containers, *spec.containers)]
    assert len(set(names)) == 6
    assert max(map(len, names)) <= 63


def test_resources_of_helpers_are_a_setting() -> None:
    own = ResourceRequirementsWithoutClaims(limits={"memory": "80M"})
    pod = with_volumes({"name": "root", **IMAGE}, support={"container-disk": own})
    assert spec_of(pod).containers[1].resources == ResourceRequirements(
        requests={"cpu": "10m", "memory": "1M"}, limits={"cpu": "100m", "memory": "80M"}
    )


def kernel_spec(**values: Any) -> dict[str, Any]:
    container = {"image": "some/kernel:v1", "kernelPath": "/boot/vmlinuz", **values}
    return {"domain": {"firmware": {"kernelBoot": {"container": container}}}}


def test_a_kernel_in_an_image_has_helpers_too() -> None:
    spec = spec_of(a_pod(kernel_spec(imagePullPolicy="Never")))
    assert [each.name for each in spec.init_containers] == [
        "container-disk-binary",
        "kernel-boot-init",
    ]
    assert spec.containers[1].args[1].endswith(f"{UID}/kernel-boot")
    assert spec.containers[1].image_pull_policy == "Never"


def test_secrets_for_pulling_are_named_once() -> None:
    def disk(name: str, secret: str) -> dict[str, Any]:
        return {"name": name, "containerDisk": {"image": "a:1", "imagePullSecret": secret}}

    volumes = [disk("a", "one"), disk("b", "one"), disk("c", "two")]
    spec = spec_of(a_pod({"volumes": volumes, **kernel_spec(imagePullSecret="three")}))
    assert [each.name for each in spec.image_pull_secrets] == ["one", "two", "three"]


# Container disks, as image volumes.


def test_an_image_volume_needs_no_helper() -> None:
    pod = with_volumes({"name": "data", **CLAIM}, {"name": "root", **IMAGE}, image_volumes=True)
    spec = spec_of(pod)
    assert spec.init_containers == ()
    assert len(spec.containers) == 1
    image = the_volume(pod).image
    assert image
    assert (image.reference, image.pull_policy) == ("some/disk:v1", "IfNotPresent")
    assert mounts(pod)["/var/run/kubevirt-image-volume/disk_1"] == "root"
    assert "--image-volume" in words(pod)
    assert not any(each.mount_propagation for each in compute(pod).volume_mounts)


def test_a_kernel_comes_as_an_image_volume_too() -> None:
    pod = a_pod(kernel_spec(), image_volumes=True)
    assert mounts(pod)["/var/run/kubevirt-kernel-boot"] == "kernel-boot"
    assert "--image-volume" in words(pod)


def test_without_images_the_launcher_is_not_told_to_look_for_them() -> None:
    assert "--image-volume" not in words(a_pod(image_volumes=True))
