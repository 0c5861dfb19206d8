"""Mounted ConfigMaps and Secrets are read whole, of one version, and never beyond their folder."""

from pathlib import Path

import msgspec
import pytest

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.errors import FileTooLarge, UserError
from kubevirt.components.launcher.contents import read_contents, read_folder
from kubevirt.virt.layout import Layout
from kubevirt.virt.volumes.folders import Folder


def as_kubelet_mounts(folder: Path, files: dict[str, str], version: str = "..2030_01_01") -> None:
    (folder / version).mkdir(parents=True)
    for name, text in files.items():
        (folder / version / name).write_text(text)
        (folder / name).symlink_to(f"..data/{name}")
    (folder / "..data").symlink_to(version)


def test_a_mounted_volume_is_read_through_kubernetes_own_links(tmp_path: Path) -> None:
    as_kubelet_mounts(tmp_path / "app", {"a.txt": "one", ".hidden": "two"})
    found = read_folder(Folder(path=str(tmp_path / "app"), volume="app"))
    assert found == {"a.txt": b"one", ".hidden": b"two"}


def test_a_plain_folder_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "user-data").write_text("#cloud-config")
    (tmp_path / "sub").mkdir()
    found = read_folder(Folder(path=str(tmp_path), volume="app"))
    assert found == {"user-data": b"#cloud-config"}


def test_a_link_that_leads_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "passwd").symlink_to("/etc/passwd")
    with pytest.raises(UserError, match="symbolic link"):
        read_folder(Folder(path=str(tmp_path), volume="app"))


def test_a_volume_over_the_limit_is_refused(tmp_path: Path) -> None:
    for name in "abcde":
        (tmp_path / name).write_bytes(bytes(1 << 20))
    with pytest.raises(FileTooLarge):
        read_folder(Folder(path=str(tmp_path), volume="app"))


def test_a_missing_volume_is_named_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"content of volume 'app' is not there.*check that it exi"):
        read_folder(Folder(path=str(tmp_path / "nothing"), volume="app"))


def test_an_optional_volume_may_be_missing(tmp_path: Path) -> None:
    assert not read_folder(Folder(path=str(tmp_path / "nothing"), volume="app", optional=True))


def test_contents_are_found_by_volume_and_by_secret(tmp_path: Path) -> None:
    layout = Layout(private=str(tmp_path))
    as_kubelet_mounts(Path(layout.config_map("app")), {"key": "value"})
    as_kubelet_mounts(Path(layout.access_credential("keys")), {"one": "ssh-ed25519 AAAA"})
    contents = read_contents(_instance(), layout)
    assert contents.volumes == {"app": {"key": b"value"}}
    assert contents.credentials == {"keys": {"one": b"ssh-ed25519 AAAA"}}


def _instance() -> VirtualMachineInstance:
    secret = {"secret": {"secretName": "keys"}}
    return msgspec.convert(
        {
            "spec": {
                "domain": {"devices": {}},
                "volumes": [{"name": "app", "configMap": {"name": "app"}}],
                "accessCredentials": [
                    {"sshPublicKey": {"source": secret, "propagationMethod": {"noCloud": {}}}}
                ],
            }
        },
        VirtualMachineInstance,
    )


def test_network_data_of_cloud_init_comes_from_its_own_secret_and_nothing_else_does(
    tmp_path: Path,
) -> None:
    layout = Layout(private=str(tmp_path))
    as_kubelet_mounts(Path(layout.secret("cloud")), {"userdata": "right", "networkData": "wrong"})
    as_kubelet_mounts(
        Path(layout.network_data("cloud")), {"userdata": "wrong", "networkdata": "right"}
    )
    source = {"secretRef": {"name": "a"}, "networkDataSecretRef": {"name": "b"}}
    vmi = msgspec.convert(
        {
            "metadata": {"name": "testvm"},
            "spec": {
                "domain": {"devices": {}},
                "volumes": [{"name": "cloud", "cloudInitNoCloud": source}],
            },
        },
        VirtualMachineInstance,
    )
    found = read_contents(vmi, layout).volumes["cloud"]
    assert found == {"userdata": b"right", "networkdata": b"right"}
