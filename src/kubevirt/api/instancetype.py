"""Instance types: sizes that a VirtualMachine refers to."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from kubevirt.api.cpu import NUMA, Realtime
from kubevirt.api.devices import GPU, HostDevice
from kubevirt.api.disks import DiskIOThreads
from kubevirt.api.launch_security import LaunchSecurity
from kubevirt.api.memory import Hugepages
from kubevirt.api.meta import ObjectMeta
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Quantity, Struct, mark


class CPUInstancetype(Struct, frozen=True, kw_only=True):
    """The guest's processors."""

    dedicated_cpu_placement: bool | None = field(default=None, name="dedicatedCPUPlacement")
    """Gives each virtual CPU a physical one; needs nodes with the static CPU manager."""
    guest: Int32
    """Number of virtual CPUs; the preference lays them out in sockets, cores and threads."""
    isolate_emulator_thread: bool | None = None
    """Gives QEMU's own threads another physical CPU; needs dedicatedCPUPlacement."""
    max_sockets: Int32 | None = None
    """Most sockets that hotplug can reach."""
    model: str | None = None
    """CPU model, host-model or host-passthrough; cluster default if not set."""
    numa: NUMA | None = None
    """Layout of the guest's NUMA nodes."""
    realtime: Realtime | None = None
    """Tuning for low latency."""


class MemoryInstancetype(Struct, frozen=True, kw_only=True):
    """The guest's memory."""

    guest: Quantity
    """How much the guest sees, such as 4Gi."""
    hugepages: Hugepages | None = None
    """Backs the memory with huge pages; excludes overcommitPercent."""
    max_guest: Quantity | None = None
    """Most memory that hotplug can reach."""
    overcommit_percent: Annotated[int | None, mark(minimum=0, maximum=100)] = None
    """Percent of guest memory left out of the pod's request, 0 to 100; default 0."""


class VirtualMachineInstancetypeSpec(Struct, frozen=True, kw_only=True):
    """Size of a guest: a machine that refers to it cannot set these itself."""

    annotations: Mapping[str, str] = NO_ENTRIES
    """Annotations of the instance."""
    cpu: CPUInstancetype
    """Number and kind of processors."""
    gpus: Annotated[tuple[GPU, ...], ATOMIC] = ()
    """GPUs to give the guest."""
    host_devices: Annotated[tuple[HostDevice, ...], ATOMIC] = ()
    """Devices of the node to give the guest."""
    io_threads: DiskIOThreads | None = None
    """Number of threads for the policy supplementalPool."""
    io_threads_policy: str | None = None
    """Threads for disks: shared, auto or supplementalPool."""
    launch_security: LaunchSecurity | None = None
    """Deprecated: set it in the machine, or use preferredLaunchSecurity of a preference."""
    memory: MemoryInstancetype
    """How much memory."""
    node_selector: Mapping[str, str] = NO_ENTRIES
    """Labels that the node must have."""
    scheduler_name: str | None = None
    """Scheduler of the pod."""


class VirtualMachineInstancetype(Struct, frozen=True, kw_only=True):
    """A size for machines of the same namespace."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstancetypeSpec
    """CPU, memory and devices."""


class VirtualMachineClusterInstancetype(Struct, frozen=True, kw_only=True):
    """A size for machines of all namespaces."""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstancetypeSpec
    """CPU, memory and devices."""
