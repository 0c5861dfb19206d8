"""Statistics of a domain, as JSON in KubeVirt's form: each number has a companion that says whether it is known.

    {"RxBytes": 0, "RxBytesSet": false}

Here a number that is not known is None, and the companions exist on the wire only.
"""

from typing import Any

import msgspec
from msgspec import field


class Group(msgspec.Struct, frozen=True, kw_only=True, rename="pascal", gc=False):
    """Numbers that belong together. None: not known."""


class Cpu(Group, frozen=True, kw_only=True):
    """Nanoseconds of the whole of QEMU."""

    time: int | None = None
    user: int | None = None
    system: int | None = None


class Vcpu(Group, frozen=True, kw_only=True):
    state: int | None = None
    """0 offline, 1 running, 2 blocked."""
    time: int | None = None
    """Nanoseconds."""
    wait: int | None = None
    delay: int | None = None


class Memory(Group, frozen=True, kw_only=True):
    """KiB, and pages for the faults."""

    unused: int | None = None
    cached: int | None = None
    available: int | None = None
    actual_balloon: int | None = None
    rss: int | None = field(default=None, name="RSS")
    swap_in: int | None = None
    swap_out: int | None = None
    major_fault: int | None = None
    minor_fault: int | None = None
    usable: int | None = None
    total: int | None = None


class Net(Group, frozen=True, kw_only=True):
    """One tap. What the guest receives is what the tap sends; libvirt turns it round."""

    name: str | None = None
    alias: str | None = None
    rx_bytes: int | None = None
    rx_pkts: int | None = None
    rx_errs: int | None = None
    rx_drop: int | None = None
    tx_bytes: int | None = None
    tx_pkts: int | None = None
    tx_errs: int | None = None
    tx_drop: int | None = None


class Block(Group, frozen=True, kw_only=True):
    """One disk; times in nanoseconds."""

    name: str | None = None
    backing_index: int | None = None
    path: str | None = None
    rd_reqs: int | None = None
    rd_bytes: int | None = None
    rd_times: int | None = None
    wr_reqs: int | None = None
    wr_bytes: int | None = None
    wr_times: int | None = None
    fl_reqs: int | None = None
    fl_times: int | None = None
    errors: int | None = None
    allocation: int | None = None
    capacity: int | None = None
    physical: int | None = None


class DomainStats(msgspec.Struct, frozen=True, kw_only=True, rename="pascal"):
    name: str = ""
    uuid: str = field(default="", name="UUID")
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    vcpu: tuple[Vcpu, ...] = ()
    net: tuple[Net, ...] = ()
    block: tuple[Block, ...] = ()


def encoded(stats: DomainStats) -> bytes:
    plain = msgspec.to_builtins(stats)
    return msgspec.json.encode(
        {
            **plain,
            "Cpu": _with_companions(plain["Cpu"]),
            "Memory": _with_companions(plain["Memory"]),
            **{name: [_with_companions(one) for one in plain[name]] for name in _LISTS},
        }
    )


def decoded(text: str | bytes) -> DomainStats:
    plain = msgspec.json.decode(text, type=dict[str, Any])
    for name in ("Cpu", "Memory"):
        plain[name] = _known(plain.get(name) or {})
    for name in _LISTS:
        plain[name] = [_known(one) for one in plain.get(name) or ()]
    return msgspec.convert(plain, DomainStats)


_LISTS = ("Vcpu", "Net", "Block")


def _with_companions(numbers: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in numbers.items():
        found[f"{name}Set"] = value is not None
        found[name] = value if value is not None else _nothing(name)
    return found


def _nothing(name: str) -> str | int:
    """What Go has in a field that nobody set."""
    return "" if name in {"Name", "Alias", "Path"} else 0


def _known(numbers: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in numbers.items()
        if not name.endswith("Set") and numbers.get(f"{name}Set", False)
    }
