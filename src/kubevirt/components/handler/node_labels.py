"""What guests may ask of a node's processor, as labels. Pure.

Pods of guests ask for these by name (`virt.pod.scheduling`), so whatever they may ask for is told here: the models that the
processor can be, and the features that it can show. Pods of emulated guests ask for nothing of it, so a node without a usable
processor needs none of these.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from kubevirt.host.guest_cpu import GuestCpu
from kubevirt.virt.pod.names import CPU_FEATURE, CPU_MODEL

VENDOR: Final = "cpu-vendor.node.kubevirt.io"

_VENDORS: Final = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}
_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


def labels(cpuinfo: str, cpu: GuestCpu) -> dict[str, str]:
    """`cpuinfo` is /proc/cpuinfo; the first processor speaks for all."""
    vendor = _VENDORS.get(dict(_facts(cpuinfo)).get("vendor_id", ""), "")
    named = ((VENDOR, [vendor]), (CPU_MODEL, cpu.models), (CPU_FEATURE, cpu.features))
    return dict.fromkeys((label for kind, names in named for label in _labels(kind, names)), "true")


def _labels(kind: str, names: Iterable[str]) -> Iterator[str]:
    for name in sorted(names):
        if _LABEL.fullmatch(name):
            yield f"{kind}/{name}"


def _facts(cpuinfo: str) -> list[tuple[str, str]]:
    first = cpuinfo.partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return [(name.strip(), value.strip()) for name, _, value in pairs]
