"""Names of disks: in order, remembered, and never given twice."""

from collections.abc import Mapping
from typing import Any

from tests.unit.virt.domain_cases import a_vmi

from kubevirt.virt.convert.disk_names import disk_names, index_of
from kubevirt.virt.convert.facts import Facts
from kubevirt.virt.convert.guest import Guest


def names(buses: Mapping[str, str], **remembered: str) -> dict[str, str]:
    disks = [{"name": name, "disk": {"bus": bus}} for name, bus in buses.items()]
    status: list[Any] = [{"name": name, "target": target} for name, target in remembered.items()]
    patch = {
        "spec": {"domain": {"devices": {"disks": disks}}},
        "status": {"volumeStatus": status},
    }
    return dict(disk_names(Guest(a_vmi(patch), Facts())))


def test_letters_go_on_after_z() -> None:
    found = names({f"disk-{number}": "virtio" for number in range(30)})
    assert list(found.values())[24:29] == ["vdy", "vdz", "vdaa", "vdab", "vdac"]
    assert [index_of(name) for name in found.values()] == list(range(30))


def test_virtio_counts_for_itself() -> None:
    found = names({"a": "virtio", "b": "sata", "c": "virtio", "d": "usb"})
    assert found == {"a": "vda", "b": "sda", "c": "vdb", "d": "sdb"}


def test_a_remembered_name_stays_and_is_not_given_again() -> None:
    assert names({"a": "virtio", "b": "virtio"}, b="vda") == {"b": "vda", "a": "vdb"}


def test_a_name_of_another_bus_is_forgotten() -> None:
    assert names({"a": "virtio"}, a="sda") == {"a": "vda"}


def test_a_name_that_is_none_is_forgotten() -> None:
    assert names({"a": "virtio"}, a="vd") == {"a": "vda"}
    assert names({"a": "virtio"}, a="vdÄ") == {"a": "vda"}
    assert names({"a": "virtio"}, a="vda1") == {"a": "vda"}


def test_two_disks_do_not_remember_the_same_name() -> None:
    assert names({"a": "virtio", "b": "virtio"}, a="vdc", b="vdc") == {"a": "vdc", "b": "vda"}


def test_a_volume_that_is_no_disk_is_not_asked() -> None:
    assert names({"a": "virtio"}, b="vda") == {"a": "vda"}
