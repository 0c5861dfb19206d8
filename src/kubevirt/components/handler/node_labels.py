"""What guests may ask of a node's hardware, as labels. Pure.

Pods of guests ask for these by name (`virt.pod.scheduling`), so whatever they may ask for is told here: the models that the
processor can be, and the features that it can show. Pods of emulated guests ask for nothing of it, so a node without a usable
processor needs none of these. The boards are told for who looks; launchers bring their own QEMU.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kubevirt.api.meta import ObjectMeta
from kubevirt.host.guest_hardware import GuestHardware
from kubevirt.virt.pod.names import CPU_FEATURE, CPU_MODEL

VENDOR: Final = "cpu-vendor.node.kubevirt.io"
MACHINE_TYPE: Final = "machine-type.node.kubevirt.io"
KINDS: Final = frozenset({VENDOR, CPU_MODEL, CPU_FEATURE, MACHINE_TYPE})
SKIP: Final = "node-labeller.kubevirt.io/skip-node"
"""Annotation of an administrator, whatever it says: labels of these kinds are their business there."""

_VENDORS: Final = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}
_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


def labels(cpuinfo: str, found: GuestHardware) -> dict[str, str]:
    """`cpuinfo` is /proc/cpuinfo; the first processor speaks for all."""
    vendor = _VENDORS.get(dict(_facts(cpuinfo)).get("vendor_id", ""), "")
    named = (
        (VENDOR, [vendor]),
        (CPU_MODEL, found.models),
        (CPU_FEATURE, found.features),
        (MACHINE_TYPE, found.machines),
    )
    return dict.fromkeys((label for kind, names in named for label in _labels(kind, names)), "true")


def changes(node: ObjectMeta, wanted: Mapping[str, str]) -> dict[str, str | None]:
    """What is to be said of a node, and what not any more: another kernel, QEMU or processor can do less."""
    if SKIP in node.annotations:
        return {}
    stale = [each for each in node.labels if each.partition("/")[0] in KINDS and each not in wanted]
    new = {name: value for name, value in wanted.items() if node.labels.get(name) != value}
    return {**dict.fromkeys(stale), **new}


def _labels(kind: str, names: Iterable[str]) -> Iterator[str]:
    for name in sorted(names):
        if _LABEL.fullmatch(name):
            yield f"{kind}/{name}"


def _facts(cpuinfo: str) -> list[tuple[str, str]]:
    first = cpuinfo.partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return [(name.strip(), value.strip()) for name, _, value in pairs]
