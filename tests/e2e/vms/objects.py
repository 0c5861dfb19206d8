"""Machines for tests, described by what is special about them; they boot our own guest in seconds.

a_vm("web", runStrategy="Always")
a_vm("db", guest={"hostname": "db"}, devices={"rng": {}})
a_vmi("one", startStrategy="Paused")
"""

from collections.abc import Mapping, Sequence
from typing import Any

Object = dict[str, Any]
CIRROS = "kubevirt/cirros-container-disk-demo"
ALPINE = "kubevirt/alpine-container-disk-demo"
MEMORY = "64M"


def a_vm(
    name: str = "testvm",
    *,
    guest: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    volumes: Sequence[Mapping[str, Any]] = (),
    **spec: Any,
) -> Object:
    """`guest` are fields of the template's spec, `volumes` further disks (`a_disk`), `spec` the machine's own."""
    if "running" not in spec:
        spec.setdefault("runStrategy", "Halted")
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name},
        "spec": {
            "template": {
                "metadata": {"labels": {"vm.kubevirt.io/name": name, **(labels or {})}},
                "spec": a_guest(volumes, **(guest or {})),
            },
            **spec,
        },
    }


def a_vmi(
    name: str = "testvm", *, volumes: Sequence[Mapping[str, Any]] = (), **guest: Any
) -> Object:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": name, "labels": {"vm.kubevirt.io/name": name}},
        "spec": a_guest(volumes, **guest),
    }


def a_guest(volumes: Sequence[Mapping[str, Any]] = (), **more: Any) -> Object:
    """`devices` and `domain` are added to what every guest has here; all else stands beside it."""
    devices, domain = more.pop("devices", {}), more.pop("domain", {})
    disks = [{"name": "root", "disk": {"bus": "virtio"}}, *(each["disk"] for each in volumes)]
    return {
        # Guests that end by being switched off: most tests are not about their end.
        "terminationGracePeriodSeconds": 0,
        "networks": [{"name": "default", "pod": {}}],
        "volumes": [
            {"name": "root", "containerDisk": {"image": CIRROS}},
            *(each["volume"] for each in volumes),
        ],
        "domain": {
            "resources": {"requests": {"memory": MEMORY}},
            **domain,
            "devices": {
                "disks": disks,
                "interfaces": [{"name": "default", "masquerade": {}}],
                **devices,
            },
        },
        **more,
    }


def a_disk(name: str, volume: Mapping[str, Any], **disk: Any) -> Object:
    """A volume and the disk on which the guest has it."""
    return {
        "disk": {
            "name": name,
            **({"disk": {"bus": "virtio"}} if "cdrom" not in disk else {}),
            **disk,
        },
        "volume": {"name": name, **volume},
    }


def a_claim(name: str, size: str = "64Mi", **spec: Any) -> Object:
    """Of the default class unless it says otherwise."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}},
            **spec,
        },
    }


def of_claim(name: str) -> Object:
    """A volume for `a_disk`."""
    return {"persistentVolumeClaim": {"claimName": name}}
