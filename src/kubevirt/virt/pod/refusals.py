"""What a pod of ours has no place for: refused with a sentence, never left out in silence.

What is not built is one table, admission's (`virt.validate.missing`). An instance may come past admission, from before or
from an older server, and here it ends: in the same words.
"""

from collections.abc import Iterator
from typing import Final

from kubevirt.virt.errors import UnsupportedError, shown
from kubevirt.virt.pod.launch import Launch
from kubevirt.virt.validate.missing import missing_causes, unbuilt_sidecar_causes
from kubevirt.virt.validate.rules import Rules

PLACED: Final = frozenset(
    {
        "agentCredentials",
        "backups",
        "dataVolumes",
        "downwardMetrics",
        "memoryLock",
        "usbRedirection",
        "vsock",
    }
)
"""Of that table: what a pod has a place for already, or need not have one for."""


def refuse_what_is_missing(launch: Launch) -> None:
    for sentence in (*_unbuilt(launch), *_networks(launch)):
        raise UnsupportedError(sentence)


def _unbuilt(launch: Launch) -> Iterator[str]:
    rules = Rules(built=PLACED)
    for cause in missing_causes(launch.spec, "spec", rules):
        yield cause.message
    for cause in unbuilt_sidecar_causes(launch.vmi.metadata.annotations, "metadata", rules):
        yield cause.message


def _networks(launch: Launch) -> Iterator[str]:
    """Neither ours nor known to be missing: admission refuses such, each in words of its own."""
    for network in launch.spec.networks:
        if network.pod is None:
            yield (
                f"network {shown(network.name)} is not the pod's own, and there are no others yet; "
                f"use pod: {{}}"
            )
    for interface in launch.devices.interfaces:
        if interface.state != "absent" and not (interface.masquerade or interface.bridge):
            yield (
                f"interface {shown(interface.name)} has a binding that is not available; use "
                f"masquerade or bridge"
            )
