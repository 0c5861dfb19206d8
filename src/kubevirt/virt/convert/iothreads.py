"""I/O threads: how many there are, and which disk uses which."""

from collections.abc import Mapping

import msgspec

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.convert.notes import Note
from kubevirt.virt.disk_device import bus_of
from kubevirt.virt.domain.iothreads import Thread, ThreadMap
from kubevirt.virt.errors import SpecError, shown

SHARED = "shared"
AUTO = "auto"
SUPPLEMENTAL_POOL = "supplementalPool"
POLICIES = (SHARED, AUTO, SUPPLEMENTAL_POOL)
POOL_LIMIT = 256


class IoThreads(msgspec.Struct, frozen=True, kw_only=True):
    """Threads are numbered from 1."""

    count: int
    of_disk: Mapping[str, int]
    """One thread for each virtio disk, by name."""
    maps_all: bool = False
    """Each virtio disk is served by every thread instead."""

    @property
    def all(self) -> ThreadMap:
        return ThreadMap(threads=tuple(Thread(id=number + 1) for number in range(self.count)))


NONE = IoThreads(count=0, of_disk={})


def iothreads(guest: Guest) -> IoThreads:
    policy, disks = guest.domain.io_threads_policy, guest.devices.disks
    _check(guest, policy)
    if policy == SUPPLEMENTAL_POOL:
        return _pool(guest)
    if policy is None and not any(disk.dedicated_io_thread for disk in disks):
        return NONE
    users = [disk for disk in disks if bus_of(disk, guest.architecture) == "virtio"]
    dedicated = [disk for disk in users if disk.dedicated_io_thread]
    sharing = [disk for disk in users if not disk.dedicated_io_thread]
    shared_threads = min(_shared_limit(guest, policy, len(dedicated)), max(len(sharing), 1))
    numbers = {disk.name: place % shared_threads + 1 for place, disk in enumerate(sharing)}
    numbers |= {disk.name: shared_threads + place + 1 for place, disk in enumerate(dedicated)}
    return IoThreads(count=shared_threads + len(dedicated), of_disk=numbers)


def notes(guest: Guest) -> tuple[Note, ...]:
    pool = guest.domain.io_threads_policy == SUPPLEMENTAL_POOL
    if not pool or guest.facts.host.iothread_mapping:
        return ()
    message = (
        "this node's hypervisor serves a disk by one I/O thread only; "
        "the threads of the supplemental pool are spread over the disks"
    )
    return (Note(reason="IoThreadsSpread", message=message),)


def _check(guest: Guest, policy: str | None) -> None:
    if policy is not None and policy not in POLICIES:
        raise SpecError(f"Invalid IOThreadsPolicy ({shown(policy)}); use {', '.join(POLICIES)}")
    for disk in guest.devices.disks:
        bus = bus_of(disk, guest.architecture)
        if disk.dedicated_io_thread and bus not in {"virtio", "scsi"}:
            raise SpecError(
                f"disk {shown(disk.name)}: IOThreads are not supported for disks on a {bus} bus; "
                f"use virtio or remove dedicatedIOThread"
            )


def _shared_limit(guest: Guest, policy: str | None, dedicated: int) -> int:
    if policy != AUTO:
        return 1
    cpu = guest.domain.cpu
    if guest.has_dedicated_cpus and cpu and cpu.isolate_emulator_thread:
        return 1  # it runs where QEMU's own thread does
    return max(2 * guest.topology.vcpus - dedicated, 1)


def _pool(guest: Guest) -> IoThreads:
    settings = guest.domain.io_threads
    count = settings.supplemental_pool_thread_count if settings else None
    if not count or not 0 < count <= POOL_LIMIT:
        raise SpecError(
            f"ioThreadsPolicy supplementalPool needs ioThreads.supplementalPoolThreadCount, "
            f"from 1 to {POOL_LIMIT}"
        )
    users = [d for d in guest.devices.disks if bus_of(d, guest.architecture) == "virtio"]
    return IoThreads(
        count=count,
        of_disk={disk.name: place % count + 1 for place, disk in enumerate(users)},
        maps_all=guest.facts.host.iothread_mapping,
    )
