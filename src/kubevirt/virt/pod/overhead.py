"""Memory that a guest costs beside its own: our formula, from what was measured.

One emulated guest of 64 MB with a network card and a screen, alone on its machine (PSS, files of shared
libraries included; the more guests share them, the less each has):

    manager 43 MiB, libvirtd 12, monitor 4                       59 MiB
    QEMU 150 MiB, of which 61 are the guest's memory             89 MiB

The mission's pod has 138 MiB in place of the first three numbers below, 8 for each vCPU, 8 for an I/O
thread, 16 for a screen, and a 512th of the memory: ours is never more, which a test holds.
"""

import math
from typing import Final

from kubevirt.base.quantity import Quantity
from kubevirt.virt.memory import whole_bytes
from kubevirt.virt.pod.launch import Launch

MIB: Final = 1 << 20

LAUNCHER: Final = 60 * MIB
"""Manager, libvirtd and monitor."""
QEMU: Final = 46 * MIB
TRANSLATIONS: Final = 32 * MIB
"""What QEMU remembers of code that it has translated; only where it emulates."""
VCPU: Final = 8 * MIB
SCREEN: Final = 16 * MIB
"""Memory of the graphics adapter."""
PAGE_TABLE_SHARE: Final = 512
"""One entry of eight bytes for each page of 4 KiB."""
ARM: Final = 64 * MIB
"""Two flash chips of 64 MiB with EFI, of which not much is ever touched."""
TPM: Final = 53 * MIB
METRICS: Final = MIB
PROBE: Final = 40 * MIB
"""A program that asks the guest's agent, for each probe that has it do so; 37 MiB were measured."""


def overhead_bytes(launch: Launch) -> int:
    """Rounded up to whole bytes."""
    parts = (
        LAUNCHER,
        QEMU,
        VCPU * launch.topology.vcpus,
        TRANSLATIONS if launch.config.emulation else 0,
        -(-launch.guest_bytes // PAGE_TABLE_SHARE),
        *_devices(launch),
        _reserved(launch),
    )
    return math.ceil(sum(parts) * launch.config.overhead_factor)


def _devices(launch: Launch) -> tuple[int, ...]:
    devices = launch.devices
    has_tpm = devices.tpm is not None and devices.tpm.enabled is not False
    shows_metrics = devices.downward_metrics is not None or any(
        each.downward_metrics is not None for each in launch.spec.volumes
    )
    probes = (launch.spec.liveness_probe, launch.spec.readiness_probe)
    return (
        SCREEN if devices.autoattach_graphics_device is not False else 0,
        ARM if launch.spec.architecture == "arm64" else 0,
        TPM if has_tpm else 0,
        METRICS if shows_metrics else 0,
        PROBE * sum(bool(each and (each.exec or each.guest_agent_ping)) for each in probes),
    )


def _reserved(launch: Launch) -> int:
    memory = launch.domain.memory
    reserved = memory.reserved_overhead if memory else None
    added = Quantity.from_json((reserved and reserved.added_overhead) or 0)
    return whole_bytes(added, "memory.reservedOverhead.addedOverhead") if added else 0
