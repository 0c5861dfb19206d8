"""The guest's processors."""

from kubevirt.api.struct import Int32, Struct


class CPUFeature(Struct, frozen=True, kw_only=True):
    """One instruction-set feature and how strictly the guest gets it."""

    name: str
    """Feature as libvirt spells it, for example vmx or pcid."""
    policy: str | None = None
    """force, require (default), optional, disable or forbid; require and forbid also restrict the
    nodes.
    """


class CPUTopology(Struct, frozen=True, kw_only=True):
    """Sockets, cores and threads of a running guest."""

    cores: Int32 | None = None
    """Cores in each socket."""
    sockets: Int32 | None = None
    """Sockets plugged in now."""
    threads: Int32 | None = None
    """Threads of each core."""


class NUMAGuestMappingPassthrough(Struct, frozen=True, kw_only=True):
    """Mirrors the host's NUMA placement in the guest; has no settings."""


class NUMA(Struct, frozen=True, kw_only=True):
    """How the guest's NUMA nodes come about."""

    guest_mapping_passthrough: NUMAGuestMappingPassthrough | None = None
    """Gives the guest the NUMA layout of its pinned CPUs; needs dedicated CPUs and huge pages."""


class Realtime(Struct, frozen=True, kw_only=True):
    """Tuning of vCPUs for low latency."""

    mask: str | None = None
    """vCPUs that run with real-time priority, as a libvirt CPU set like 1-7,^4; all if not set."""


class CPU(Struct, frozen=True, kw_only=True):
    """Virtual processors of the guest: topology, model and features."""

    cores: Int32 | None = None
    """Cores per socket; 1 if not set."""
    dedicated_cpu_placement: bool | None = None
    """Pins each virtual CPU to a physical one of its own; needs a node with the static CPU manager.
    """
    features: tuple[CPUFeature, ...] = ()
    """Instruction-set features to add to or take from the model."""
    isolate_emulator_thread: bool | None = None
    """Gives QEMU's own thread a further physical CPU; only with dedicatedCpuPlacement."""
    max_sockets: Int32 | None = None
    """Ceiling for CPU hotplug; sockets times the cluster's hotplug ratio if not set."""
    model: str | None = None
    """host-model (default), host-passthrough or a model known to libvirt, such as Skylake-Server.
    """
    numa: NUMA | None = None
    """NUMA layout shown to the guest."""
    realtime: Realtime | None = None
    """Low-latency tuning; needs dedicated CPUs and NUMA passthrough."""
    sockets: Int32 | None = None
    """CPU sockets; 1 if not set. Raising it plugs CPUs into a running guest."""
    threads: Int32 | None = None
    """Threads per core; 1 if not set."""
