"""What guests may ask of a node's processor, as labels. Pure.

Pods of emulated guests ask for nothing of it, so a node without a usable processor needs none of these. Which of
QEMU's models a processor can be is not told: a guest that names one runs only where the label was set by hand.
"""

import re
from typing import Final

VENDOR: Final = "cpu-vendor.node.kubevirt.io"
FEATURE: Final = "cpu-feature.node.kubevirt.io"

_VENDORS: Final = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}
_SPELLINGS: Final = {"sse4_1": "sse4.1", "sse4_2": "sse4.2", "pni": "sse3"}
_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")


def labels(cpuinfo: str) -> dict[str, str]:
    """`cpuinfo` is /proc/cpuinfo; the first processor speaks for all."""
    facts = dict(_facts(cpuinfo))
    vendor = _VENDORS.get(facts.get("vendor_id", ""), "")
    found = {f"{VENDOR}/{vendor}": "true"} if vendor else {}
    for flag in facts.get("flags", "").split():
        name = _SPELLINGS.get(flag, flag.replace("_", "-"))
        if _LABEL.fullmatch(name):
            found[f"{FEATURE}/{name}"] = "true"
    return found


def _facts(cpuinfo: str) -> list[tuple[str, str]]:
    first = cpuinfo.partition("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return [(name.strip(), value.strip()) for name, _, value in pairs]
