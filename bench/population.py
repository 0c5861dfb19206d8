"""The VMIs that every contender follows: alike in shape, different in every name and address.

They are made as a running Fedora guest with a data volume, cloud-init, a network and a guest agent
shows itself, because what a cache costs is decided by such objects and not by minimal ones: about
4 kB as the server sends it, a third of it the record of who owns which field. A number gives one VMI,
always the same one.
"""

import uuid
from typing import Any

NAMESPACE_COUNT = 20
NODE_COUNT = 100
STARTED = "2026-03-04T09:{minute:02d}:{second:02d}Z"
USER_DATA = """\
#cloud-config
hostname: {name}
packages: [qemu-guest-agent]
"""

Json = dict[str, Any]


def namespaces() -> list[str]:
    return [f"tenant-{number:02d}" for number in range(NAMESPACE_COUNT)]


def name_of(number: int) -> str:
    return f"web-frontend-{number:05d}"


def namespace_of(number: int) -> str:
    return namespaces()[number % NAMESPACE_COUNT]


def vmi(number: int) -> Json:
    """The object as two controllers have left it: spec and metadata by one, status by the other."""
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": _metadata(number),
        "spec": _spec(number),
        "status": _status(number),
    }


def change(times: int) -> Json:
    """A patch such as a node's agent sends when the guest reports: one event of a watch."""
    return {"status": {"guestOSInfo": {"kernelRelease": f"6.12.{times}-200.fc41.x86_64"}}}


def _metadata(number: int) -> Json:
    return {
        "name": name_of(number),
        "namespace": namespace_of(number),
        "annotations": {"kubevirt.io/latest-observed-api-version": "v1"},
        "labels": {
            "app": "web-frontend",
            "kubevirt.io/nodeName": _node(number),
            "kubevirt.io/vm": name_of(number),
        },
        "finalizers": ["kubevirt.io/virtualMachineControllerFinalize"],
        "ownerReferences": [
            {
                "apiVersion": "kubevirt.io/v1",
                "blockOwnerDeletion": True,
                "controller": True,
                "kind": "VirtualMachine",
                "name": name_of(number),
                "uid": _uid("vm", number),
            }
        ],
    }


def _spec(number: int) -> Json:
    return {
        "domain": _domain(number),
        "evictionStrategy": "LiveMigrate",
        "networks": [{"name": "default", "pod": {}}],
        "terminationGracePeriodSeconds": 180,
        "volumes": [
            {"name": "rootdisk", "dataVolume": {"name": f"{name_of(number)}-root"}},
            {
                "name": "cloudinit",
                "cloudInitNoCloud": {"userData": USER_DATA.format(name=name_of(number))},
            },
        ],
    }


def _domain(number: int) -> Json:
    return {
        "cpu": {"cores": 2, "model": "host-model", "sockets": 2, "threads": 1},
        "devices": {
            "disks": [
                {"name": "rootdisk", "bootOrder": 1, "disk": {"bus": "virtio"}},
                {"name": "cloudinit", "disk": {"bus": "virtio"}},
            ],
            "interfaces": [{"name": "default", "masquerade": {}, "macAddress": _mac(number)}],
        },
        "firmware": {"uuid": _uid("firmware", number)},
        "machine": {"type": "pc-q35-rhel9.6.0"},
        "memory": {"guest": "4Gi"},
    }


def _status(number: int) -> Json:
    return {
        "activePods": {_uid("pod", number): _node(number)},
        "conditions": [
            _condition(number, "Ready", "True"),
            _condition(number, "LiveMigratable", "True"),
            _condition(number, "AgentConnected", "True"),
        ],
        "guestOSInfo": {
            "kernelRelease": "6.12.0-200.fc41.x86_64",
            "prettyName": "Fedora Linux 41 (Cloud Edition)",
        },
        "interfaces": [_interface(number)],
        "migrationMethod": "LiveMigration",
        "migrationTransport": "Unix",
        "nodeName": _node(number),
        "phase": "Running",
        "phaseTransitionTimestamps": [
            {"phase": phase, "phaseTransitionTimestamp": _time(number, later)}
            for later, phase in enumerate(("Pending", "Scheduling", "Scheduled", "Running"))
        ],
        "qosClass": "Burstable",
        "runtimeUser": 107,
        "volumeStatus": [
            _volume_status("rootdisk", "vda", f"{name_of(number)}-root"),
            {"name": "cloudinit", "size": 1048576, "target": "vdb"},
        ],
    }


def _condition(number: int, type_: str, status: str) -> Json:
    return {
        "lastProbeTime": None,
        "lastTransitionTime": _time(number, 4),
        "status": status,
        "type": type_,
    }


def _interface(number: int) -> Json:
    address = f"10.128.{number // 250 % 250}.{number % 250 + 2}"
    return {
        "infoSource": "domain, guest-agent",
        "interfaceName": "enp1s0",
        "ipAddress": address,
        "ipAddresses": [address, f"fd10:128::{number:x}"],
        "mac": _mac(number),
        "name": "default",
        "queueCount": 1,
    }


def _volume_status(name: str, target: str, claim: str) -> Json:
    return {
        "name": name,
        "persistentVolumeClaimInfo": {
            "accessModes": ["ReadWriteMany"],
            "capacity": {"storage": "30Gi"},
            "claimName": claim,
            "requests": {"storage": "30Gi"},
            "volumeMode": "Block",
        },
        "target": target,
    }


def _node(number: int) -> str:
    return f"worker-{number % NODE_COUNT:03d}.example"


def _uid(kind: str, number: int) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{kind}/{number}"))


def _mac(number: int) -> str:
    return f"02:00:00:{number >> 16 & 255:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"


def _time(number: int, later: int) -> str:
    return STARTED.format(minute=number % 60, second=later)
