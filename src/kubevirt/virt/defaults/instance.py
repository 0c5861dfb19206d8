"""`with_defaults`: the whole of an instance's hardware, written out.

Pure and idempotent: a second pass changes nothing, and what the user wrote is never overwritten.
Upstream's mutating webhook writes the same values, so a manifest read back looks the same.
"""

import uuid
from typing import Final

from msgspec.structs import replace

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.cpu import CPUTopology
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.api.memory import MemoryStatus
from kubevirt.virt.defaults import (
    devices,
    disks,
    features,
    memory,
    network,
    platform,
    processors,
)
from kubevirt.virt.defaults.settings import Settings, architecture_for

FIRMWARE_UUIDS: Final = uuid.UUID("6a1a24a1-4061-4607-8bf4-a3963d0c5895")
"""Upstream's namespace for UUIDs that follow from a name."""


def with_defaults(
    vmi: VirtualMachineInstance,
    configuration: KubeVirtConfiguration,
    *,
    firmware_uuid: str | None = None,
) -> VirtualMachineInstance:
    """`firmware_uuid` is for an instance that has none; else one follows from its identity."""
    settings = Settings(configuration=configuration)
    architecture = architecture_for(vmi.spec.architecture, settings)
    spec = platform.with_machine(vmi.spec, settings, architecture)
    spec = processors.with_cpu_request(spec, settings)
    spec = memory.with_guest_memory(spec)
    spec = processors.with_topology(spec)
    spec = disks.with_pull_policies(spec)
    spec = network.with_pod_network(spec, settings)
    spec = disks.with_disks(spec, architecture)
    spec = platform.with_firmware(spec, firmware_uuid or _stable_uuid(vmi), architecture)
    spec = features.with_features(spec, architecture)
    spec = features.with_vmx_for_evmcs(spec)
    spec = features.with_clock(spec)
    spec = devices.with_devices(spec, architecture)
    spec = processors.with_model(spec, settings, architecture)
    vmi = replace(vmi, spec=spec, status=_with_hardware(vmi.status, replace(vmi, spec=spec)))
    spec = processors.with_max_sockets(spec, settings, architecture)
    spec = memory.with_max_guest(spec, settings, architecture)
    return replace(vmi, spec=spec)


def _stable_uuid(vmi: VirtualMachineInstance) -> str:
    meta = vmi.metadata
    return str(uuid.uuid5(FIRMWARE_UUIDS, meta.uid or f"{meta.namespace or ''}/{meta.name}"))


def _with_hardware(
    status: VirtualMachineInstanceStatus, vmi: VirtualMachineInstance
) -> VirtualMachineInstanceStatus:
    """What the guest starts with; hotplug moves it later."""
    cpu, size = vmi.spec.domain.cpu, vmi.spec.domain.memory and vmi.spec.domain.memory.guest
    if status.current_cpu_topology is None and cpu:
        topology = CPUTopology(sockets=cpu.sockets, cores=cpu.cores, threads=cpu.threads)
        status = replace(status, current_cpu_topology=topology)
    if status.memory is None and size:
        status = replace(
            status,
            memory=MemoryStatus(guest_at_boot=size, guest_current=size, guest_requested=size),
        )
    return status
