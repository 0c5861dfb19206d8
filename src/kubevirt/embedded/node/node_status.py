"""The Node object as its node writes it: pure, from what was seen of the machine."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import kubevirt
from kubevirt.embedded.node.machine import Load, Machine
from kubevirt.embedded.node.settings import NodeSettings

Data = dict[str, Any]

VERSION: Final = f"v1.34.4+kubevirt-py.{kubevirt.__version__}"
_MEBI: Final = 1024 * 1024
_LEAST_MEMORY: Final = 100 * _MEBI
"""Kept for the machine itself; with less than that left it is short of memory."""
_LEAST_DISK: Final = 2048 * _MEBI
_LEAST_PROCESSES: Final = 1000


def metadata(settings: NodeSettings, machine: Machine) -> Data:
    return {
        "name": settings.name,
        "labels": {
            "kubernetes.io/hostname": settings.name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": machine.architecture,
        },
    }


def of(
    settings: NodeSettings,
    machine: Machine,
    devices: Mapping[str, tuple[int, int]],
) -> Data:
    """All but the conditions."""
    return {
        "addresses": [
            *({"type": "InternalIP", "address": each} for each in settings.addresses),
            {"type": "Hostname", "address": settings.name},
        ],
        "capacity": _amounts(settings, machine, machine.memory_bytes)
        | {name: str(count) for name, (count, _) in sorted(devices.items())},
        "allocatable": _amounts(settings, machine, machine.memory_bytes - _LEAST_MEMORY)
        | {name: str(healthy) for name, (_, healthy) in sorted(devices.items())},
        "nodeInfo": _info(machine),
        "daemonEndpoints": {"kubeletEndpoint": {"Port": settings.endpoint_port}},
    }


def _amounts(settings: NodeSettings, machine: Machine, memory_bytes: int) -> Data:
    return {
        "cpu": str(machine.cpus),
        "memory": f"{memory_bytes // 1024}Ki",
        "ephemeral-storage": f"{machine.disk_bytes // 1024}Ki",
        "pods": str(settings.most_pods),
    }


def _info(machine: Machine) -> Data:
    return {
        "architecture": machine.architecture,
        "bootID": machine.boot_id,
        "containerRuntimeVersion": f"kubevirt-py://{kubevirt.__version__}",
        "kernelVersion": machine.kernel,
        "kubeProxyVersion": "",
        "kubeletVersion": VERSION,
        "machineID": machine.machine_id,
        "operatingSystem": "linux",
        "osImage": machine.system,
        "systemUUID": machine.system_uuid,
    }


def conditions(
    left: Load, network_trouble: str, before: Mapping[str, Data], now: datetime
) -> list[Data]:
    """A kubelet's, with its words, and that of who makes the network; `before` by type. A time of change changes with
    the status only.
    """

    def is_short(kind: str, amount: int, least: int) -> bool:
        """Once it is, it takes half as much again to be so no longer: nobody is served by a change every
        ten seconds.
        """
        return amount < least * (1.5 if before.get(kind, {}).get("status") == "True" else 1)

    memory = is_short("MemoryPressure", left.memory_bytes, _LEAST_MEMORY)
    disk = is_short("DiskPressure", left.disk_bytes, _LEAST_DISK)
    processes = is_short("PIDPressure", left.processes, _LEAST_PROCESSES)
    told = [
        _network(network_trouble),
        _pressure("MemoryPressure", memory, "Memory", "memory available"),
        _pressure("DiskPressure", disk, "Disk", "disk pressure"),
        _pressure("PIDPressure", processes, "PID", "PID available"),
        ("Ready", True, "KubeletReady", "kubelet is posting ready status"),
    ]
    return [_condition(*each, before, now) for each in told]


def _network(trouble: str) -> tuple[str, bool, str, str]:
    if trouble:
        return "NetworkUnavailable", True, "NetworkIsDown", trouble
    return "NetworkUnavailable", False, "NetworkIsUp", "the network of pods is up"


def _pressure(kind: str, is_short: bool, what: str, words: str) -> tuple[str, bool, str, str]:  # noqa: FBT001
    if kind == "DiskPressure":
        reason = f"KubeletHas{'' if is_short else 'No'}DiskPressure"
        return kind, is_short, reason, f"kubelet has {'' if is_short else 'no '}{words}"
    amount = "Insufficient" if is_short else "Sufficient"
    return kind, is_short, f"KubeletHas{amount}{what}", f"kubelet has {amount.lower()} {words}"


def _condition(
    kind: str,
    is_true: bool,  # noqa: FBT001
    reason: str,
    message: str,
    before: Mapping[str, Data],
    now: datetime,
) -> Data:
    status = "True" if is_true else "False"
    then = before.get(kind, {})
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    since = then.get("lastTransitionTime") if then.get("status") == status else None
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastHeartbeatTime": stamp,
        "lastTransitionTime": since or stamp,
    }


def is_news(before: list[Data], after: list[Data]) -> bool:
    """Whether conditions say something else; that time passes is none."""
    return [_without_heartbeat(each) for each in before] != [
        _without_heartbeat(each) for each in after
    ]


def _without_heartbeat(condition: Data) -> Data:
    return {key: value for key, value in condition.items() if key != "lastHeartbeatTime"}
