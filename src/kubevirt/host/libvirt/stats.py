"""Statistics of a guest, typed. libvirt gives them flat, as `block.0.rd.bytes`.

Times are nanoseconds, sizes bytes unless the name says otherwise. What this QEMU, guest or moment
does not tell is None, which is not zero.
"""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import field

from kubevirt.host.libvirt.states import DomainState, state_of

S = TypeVar("S", bound=msgspec.Struct)

_ITEM_LIMIT: Final = 1024
"""Disks, cards, CPUs: more than a guest can have."""


class CpuStats(msgspec.Struct, frozen=True, kw_only=True):
    """Of the QEMU process."""

    time_ns: int | None = field(default=None, name="time")
    user_ns: int | None = field(default=None, name="user")
    system_ns: int | None = field(default=None, name="system")


class VcpuStats(msgspec.Struct, frozen=True, kw_only=True):
    state: int | None = None
    """0 offline, 1 running, 2 blocked."""
    time_ns: int | None = field(default=None, name="time")
    wait_ns: int | None = field(default=None, name="wait")
    delay_ns: int | None = field(default=None, name="delay")
    """Ready to run, but the host had no CPU free."""
    halted: bool | None = None


class BalloonStats(msgspec.Struct, frozen=True, kw_only=True):
    """Memory, in KiB as libvirt tells it. All but the first two come from the guest's driver."""

    current_kib: int | None = field(default=None, name="current")
    maximum_kib: int | None = field(default=None, name="maximum")
    rss_kib: int | None = field(default=None, name="rss")
    available_kib: int | None = field(default=None, name="available")
    unused_kib: int | None = field(default=None, name="unused")
    usable_kib: int | None = field(default=None, name="usable")
    disk_caches_kib: int | None = field(default=None, name="disk_caches")
    swap_in_kib: int | None = field(default=None, name="swap_in")
    swap_out_kib: int | None = field(default=None, name="swap_out")
    major_faults: int | None = field(default=None, name="major_fault")
    minor_faults: int | None = field(default=None, name="minor_fault")
    hugetlb_pages: int | None = field(default=None, name="hugetlb_pgalloc")
    hugetlb_failures: int | None = field(default=None, name="hugetlb_pgfail")
    last_update_s: int | None = field(default=None, name="last-update")


class BlockStats(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""
    """The target, such as vda."""
    path: str | None = None
    backing_index: int | None = field(default=None, name="backingIndex")
    read_requests: int | None = field(default=None, name="rd.reqs")
    read_bytes: int | None = field(default=None, name="rd.bytes")
    read_ns: int | None = field(default=None, name="rd.times")
    write_requests: int | None = field(default=None, name="wr.reqs")
    write_bytes: int | None = field(default=None, name="wr.bytes")
    write_ns: int | None = field(default=None, name="wr.times")
    flush_requests: int | None = field(default=None, name="fl.reqs")
    flush_ns: int | None = field(default=None, name="fl.times")
    errors: int | None = None
    allocation: int | None = None
    capacity: int | None = None
    physical: int | None = None


class InterfaceStats(msgspec.Struct, frozen=True, kw_only=True):
    """Of a tap on the host: what it receives the guest has sent."""

    name: str = ""
    """The tap."""
    received_bytes: int | None = field(default=None, name="rx.bytes")
    received_packets: int | None = field(default=None, name="rx.pkts")
    received_errors: int | None = field(default=None, name="rx.errs")
    received_dropped: int | None = field(default=None, name="rx.drop")
    sent_bytes: int | None = field(default=None, name="tx.bytes")
    sent_packets: int | None = field(default=None, name="tx.pkts")
    sent_errors: int | None = field(default=None, name="tx.errs")
    sent_dropped: int | None = field(default=None, name="tx.drop")


class DomainStats(msgspec.Struct, frozen=True, kw_only=True):
    state: DomainState
    cpu: CpuStats = CpuStats()
    vcpus_current: int | None = None
    vcpus_maximum: int | None = None
    vcpus: tuple[VcpuStats, ...] = ()
    balloon: BalloonStats = BalloonStats()
    blocks: tuple[BlockStats, ...] = ()
    interfaces: tuple[InterfaceStats, ...] = ()
    dirty_rate_mib_s: int | None = None


def stats_from(flat: Mapping[str, Any]) -> DomainStats:
    """What libvirt told, sorted; names that no class has are left out."""
    return DomainStats(
        state=state_of(flat.get("state.state", 0), flat.get("state.reason", 0)),
        cpu=_typed(_below(flat, "cpu."), CpuStats),
        vcpus_current=flat.get("vcpu.current"),
        vcpus_maximum=flat.get("vcpu.maximum"),
        vcpus=_items(flat, "vcpu", VcpuStats, flat.get("vcpu.maximum", 0)),
        balloon=_typed(_below(flat, "balloon."), BalloonStats),
        blocks=_items(flat, "block", BlockStats, flat.get("block.count", 0)),
        interfaces=_items(flat, "net", InterfaceStats, flat.get("net.count", 0)),
        dirty_rate_mib_s=flat.get("dirtyrate.megabytes_per_second"),
    )


def _items(flat: Mapping[str, Any], kind: str, struct: type[S], count: int) -> tuple[S, ...]:
    """Item by item; a gap, as a CPU that is unplugged leaves, is skipped."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in flat.items():
        head, _, rest = key.partition(".")
        number, _, name = rest.partition(".")
        if head == kind and name and number.isdecimal():
            found.setdefault(int(number), {})[name] = value
    numbers = sorted(found)[: min(count, _ITEM_LIMIT)]
    return tuple(_typed(found[number], struct) for number in numbers)


def _below(flat: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in flat.items() if key.startswith(prefix)}


def _typed(values: dict[str, Any], struct: type[S]) -> S:
    return msgspec.convert(values, struct)
