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
from kubevirt.api.struct import ATOMIC, NO_ENTRIES, Int32, Int64, Quantity, Struct


class CPUInstancetype(Struct, frozen=True, kw_only=True):
    """…"""

    dedicated_cpu_placement: bool | None = field(default=None, name="dedicatedCPUPlacement")
    guest: Int64
    isolate_emulator_thread: bool | None = None
    max_sockets: Int64 | None = None
    model: str | None = None
    numa: NUMA | None = None
    realtime: Realtime | None = None


class MemoryInstancetype(Struct, frozen=True, kw_only=True):
    """…"""

    guest: Quantity
    hugepages: Hugepages | None = None
    max_guest: Quantity | None = None
    overcommit_percent: Int32 | None = None


class VirtualMachineInstancetypeSpec(Struct, frozen=True, kw_only=True):
    """…"""

    annotations: Mapping[str, str] = NO_ENTRIES
    cpu: CPUInstancetype
    gpus: Annotated[tuple[GPU, ...], ATOMIC] = ()
    host_devices: Annotated[tuple[HostDevice, ...], ATOMIC] = ()
    io_threads: DiskIOThreads | None = None
    io_threads_policy: str | None = None
    launch_security: LaunchSecurity | None = None
    memory: MemoryInstancetype
    node_selector: Mapping[str, str] = NO_ENTRIES
    scheduler_name: str | None = None


class VirtualMachineInstancetype(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstancetypeSpec


class VirtualMachineClusterInstancetype(Struct, frozen=True, kw_only=True):
    """…"""

    api_version: str | None = None
    kind: str | None = None
    metadata: ObjectMeta = ObjectMeta()
    spec: VirtualMachineInstancetypeSpec
