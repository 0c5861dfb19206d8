"""Pins: the guest's threads on the CPUs that the pod has to itself."""

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.iothreads import iothreads
from kubevirt.virt.convert.placement import Placement
from kubevirt.virt.domain.tuning import CpuTune, EmulatorPin, IoThreadPin, VcpuPin


def cputune(guest: Guest) -> CpuTune | None:
    placement = guest.placement
    if placement is None:
        return None
    return CpuTune(
        vcpu_pins=tuple(
            VcpuPin(vcpu=number, cpuset=str(cpu)) for number, cpu in enumerate(placement.vcpus)
        ),
        emulator_pin=None
        if placement.emulator is None
        else EmulatorPin(cpuset=str(placement.emulator)),
        iothread_pins=_iothread_pins(placement, iothreads(guest).count),
    )


def _iothread_pins(placement: Placement, count: int) -> tuple[IoThreadPin, ...]:
    """On the emulator's CPU, or evenly over those of the vCPUs."""
    if placement.emulator is not None:
        return tuple(_pin(number, (placement.emulator,)) for number in range(count))
    cpus = placement.vcpus
    if count >= len(cpus):
        return tuple(_pin(number, (cpus[number % len(cpus)],)) for number in range(count))
    pins, start = [], 0
    for number in range(count):
        width = len(cpus) // count + (number < len(cpus) % count)
        pins.append(_pin(number, cpus[start : start + width]))
        start += width
    return tuple(pins)


def _pin(number: int, cpus: tuple[int, ...]) -> IoThreadPin:
    return IoThreadPin(iothread=number + 1, cpuset=",".join(map(str, cpus)))
