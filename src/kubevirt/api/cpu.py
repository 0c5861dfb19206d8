"""The guest's processors."""

from kubevirt.api.struct import Int64, Struct


class CPUFeature(Struct, frozen=True, kw_only=True):
    """…"""

    name: str
    policy: str | None = None


class CPUTopology(Struct, frozen=True, kw_only=True):
    """…"""

    cores: Int64 | None = None
    sockets: Int64 | None = None
    threads: Int64 | None = None


class NUMAGuestMappingPassthrough(Struct, frozen=True, kw_only=True):
    """…"""


class NUMA(Struct, frozen=True, kw_only=True):
    """…"""

    guest_mapping_passthrough: NUMAGuestMappingPassthrough | None = None


class Realtime(Struct, frozen=True, kw_only=True):
    """…"""

    mask: str | None = None


class CPU(Struct, frozen=True, kw_only=True):
    """…"""

    cores: Int64 | None = None
    dedicated_cpu_placement: bool | None = None
    features: tuple[CPUFeature, ...] = ()
    isolate_emulator_thread: bool | None = None
    max_sockets: Int64 | None = None
    model: str | None = None
    numa: NUMA | None = None
    realtime: Realtime | None = None
    sockets: Int64 | None = None
    threads: Int64 | None = None
