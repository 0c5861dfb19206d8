"""One guest under libvirt: everything the launcher does with it.

A domain is transient: it is there as long as its QEMU is, and libvirt keeps no definition that could
start it a second time. Calls name it and look it up each time, so a handle outlives the daemon.

What needs the guest's own cooperation is in `agent.py`.
"""

from collections.abc import Callable
from enum import IntFlag, StrEnum
from pathlib import Path
from typing import Final, TypeVar

import libvirt
import msgspec

from kubevirt.host.libvirt.connection import CALL_LIMIT_S, Caller
from kubevirt.host.libvirt.errors import (
    DomainExistsError,
    LibvirtError,
    NoSuchDomainError,
    UnsupportedCallError,
    WrongStateError,
)
from kubevirt.host.libvirt.screenshot import IMAGE_LIMIT, png_from
from kubevirt.host.libvirt.states import DomainState, State, state_of
from kubevirt.host.libvirt.stats import DomainStats, stats_from
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.metadata import KUBEVIRT, Kubevirt
from kubevirt.virt.domain.xml.element import Element
from kubevirt.virt.domain.xml.reading import from_xml
from kubevirt.virt.domain.xml.writing import to_xml

T = TypeVar("T")

START_LIMIT_S: Final = 60.0
"""QEMU starts in less than a second; on a full machine with a cold cache it may take its time."""
STOP_LIMIT_S: Final = 30.0
"""libvirt itself waits 15 s for QEMU to end before it says that it cannot end it."""
DUMP_LIMIT_S: Final = 3600.0

_LIVE: Final = libvirt.VIR_DOMAIN_AFFECT_LIVE
_METADATA: Final = libvirt.VIR_DOMAIN_METADATA_ELEMENT


class Button(IntFlag):
    """How a guest is asked to power off or to reboot; both means the agent first, then ACPI."""

    ACPI = 1
    AGENT = 2


class DeviceElement(StrEnum):
    """What can be plugged or changed while a guest runs."""

    DISK = "disk"
    INTERFACE = "interface"


class BlockInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of a disk in bytes."""

    capacity: int
    """What the guest sees."""
    allocation: int
    """What the host has set aside."""
    physical: int
    """How long the file or device is."""


class _Named(Element, frozen=True, kw_only=True):
    """All of a domain that must be known of a definition that may be somebody else's."""

    name: str


async def create(caller: Caller, domain: Domain | str, *, paused: bool = False) -> "LiveDomain":
    """Starts a guest; a definition in XML must come from `to_xml` or a hook, and is libvirt's to judge."""
    text = domain if isinstance(domain, str) else to_xml(domain)
    flags = libvirt.VIR_DOMAIN_START_PAUSED if paused else 0
    try:
        name = await caller.call(
            "start the guest", lambda it: it.createXML(text, flags).name(), limit_s=START_LIMIT_S
        )
    except LibvirtError as error:
        # libvirt has three codes for this, two of which mean other things as well.
        if await LiveDomain(caller, from_xml(text, _Named).name).exists():
            raise DomainExistsError(str(error), code=error.code) from None
        raise
    return LiveDomain(caller, name)


class LiveDomain:
    """A guest by its name. `NoSuchDomainError` from any call means that it has ended."""

    def __init__(self, caller: Caller, name: str) -> None:
        self.name = name
        self._caller = caller

    # What it is.

    async def exists(self) -> bool:
        try:
            await self._look("find the guest", lambda it: it.isActive())
        except NoSuchDomainError:
            return False
        return True

    async def state(self) -> DomainState:
        number, reason = await self._look("ask for the guest's state", lambda it: it.state())
        return state_of(number, reason)

    async def xml(self) -> str:
        return await self._look("read the guest's definition", lambda it: it.XMLDesc())

    async def read(self) -> Domain:
        """What runs, in the house's own terms: libvirt's additions that no class names are left out."""
        return from_xml(await self.xml(), Domain)

    async def stats(self) -> DomainStats:
        """Never waits for a QEMU that is busy; what only QEMU knows is then missing."""

        def ask(it: libvirt.virDomain) -> DomainStats:
            flags = libvirt.VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT
            found = it.connect().domainListGetStats([it], 0, flags)
            return stats_from(found[0][1] if found else {})

        return await self._look("read the guest's statistics", ask)

    async def block_info(self, device: str) -> BlockInfo:
        """By target (vda) or path."""
        capacity, allocation, physical = await self._look(
            f"measure the disk {device}", lambda it: it.blockInfo(device)
        )
        return BlockInfo(capacity=capacity, allocation=allocation, physical=physical)

    async def resize_disk(self, device: str, size_bytes: int) -> None:
        """The guest is told of its new size. A file is made as long, a device has it already."""
        flags = libvirt.VIR_DOMAIN_BLOCK_RESIZE_BYTES
        await self._call(
            f"resize the disk {device}", lambda it: it.blockResize(device, size_bytes, flags)
        )

    async def metadata(self) -> Kubevirt | None:
        """What we noted in it, which outlives every process but QEMU."""
        # Not by libvirt's own call for it, which loses the namespace on the way.
        notes = (await self.read()).metadata
        return None if notes is None else notes.kubevirt

    async def set_metadata(self, notes: Kubevirt) -> None:
        # libvirt adds the namespace under the prefix it is told; a default one would come twice.
        text = to_xml(notes, "kubevirt")
        await self._call(
            "note something in the guest",
            lambda it: it.setMetadata(_METADATA, text, "kubevirt", KUBEVIRT, _LIVE),
        )

    # What it does.

    async def suspend(self) -> None:
        await self._call("pause the guest", lambda it: it.suspend())

    async def resume(self) -> None:
        """A guest that runs already is resumed enough: a daemon that has just come back may have called
        it paused a moment ago.
        """
        try:
            await self._call("resume the guest", lambda it: it.resume())
        except WrongStateError:
            if (await self.state()).state != State.RUNNING:
                raise

    async def reset(self) -> None:
        """The reset button: the guest is not asked."""
        await self._call("reset the guest", lambda it: it.reset())

    async def reboot(self, button: Button = Button.ACPI) -> None:
        flags = _reboot_flags(button)
        await self._call("reboot the guest", lambda it: it.reboot(flags), limit_s=_limit(button))

    async def shutdown(self, button: Button = Button.ACPI) -> None:
        """Asks the guest to power off; that it was asked is all that is known afterwards."""
        flags = _shutdown_flags(button)
        await self._call(
            "shut the guest down", lambda it: it.shutdownFlags(flags), limit_s=_limit(button)
        )

    async def destroy(self, *, graceful: bool = False) -> None:
        """Ends QEMU, in the end by SIGKILL; with `graceful` it is only asked, and may refuse.

        A guest that has ended already is destroyed enough.
        """
        flags = libvirt.VIR_DOMAIN_DESTROY_GRACEFUL if graceful else 0
        try:
            await self._call(
                "destroy the guest", lambda it: it.destroyFlags(flags), limit_s=STOP_LIMIT_S
            )
        except NoSuchDomainError:
            return

    async def dump_memory(self, path: Path, *, limit_s: float = DUMP_LIMIT_S) -> None:
        """All of its memory into a new file, as an ELF core; it is paused for as long as that takes."""
        await self._call(
            f"dump the guest's memory to {path.name}",
            lambda it: it.coreDumpWithFormat(
                str(path), libvirt.VIR_DOMAIN_CORE_DUMP_FORMAT_RAW, libvirt.VIR_DUMP_MEMORY_ONLY
            ),
            limit_s=limit_s,
        )

    async def screenshot(self, screen: int = 0) -> bytes:
        """A PNG of what is on the guest's screen."""

        def take(it: libvirt.virDomain) -> tuple[str, bytes]:
            return _received(it, screen)

        kind, image = await self._call("take a picture of the guest's screen", take)
        if kind == "image/png":
            return image
        if kind == "image/x-portable-pixmap":
            return png_from(image)
        raise UnsupportedCallError(f"libvirt's pictures are {kind!r}, which is not known here")

    # What is plugged into it.

    async def attach(self, kind: DeviceElement, device: Element) -> None:
        """For hotplug, which is not built yet; tests/component/host holds it together with `detach`."""
        text = to_xml(device, kind)
        await self._call(f"attach a {kind}", lambda it: it.attachDeviceFlags(text, _LIVE))

    async def update(self, kind: DeviceElement, device: Element) -> None:
        """Changes the medium of a drive, the link state of a card."""
        text = to_xml(device, kind)
        await self._call(f"change a {kind}", lambda it: it.updateDeviceFlags(text, _LIVE))

    async def detach(self, alias: str) -> None:
        """Asks the guest to let go of a device; `DeviceRemoved` or `DeviceKept` tells what it did. For hotplug, too."""
        await self._call(
            f"detach the device {alias}", lambda it: it.detachDeviceAlias(alias, _LIVE)
        )

    async def _call(
        self,
        doing: str,
        work: Callable[[libvirt.virDomain], T],
        *,
        limit_s: float = CALL_LIMIT_S,
        repeatable: bool = False,
    ) -> T:
        return await self._caller.call(
            doing,
            lambda it: work(it.lookupByName(self.name)),
            limit_s=limit_s,
            repeatable=repeatable,
        )

    async def _look(self, doing: str, work: Callable[[libvirt.virDomain], T]) -> T:
        """A call that changes nothing, and so may be made twice."""
        return await self._call(doing, work, repeatable=True)


def _received(it: libvirt.virDomain, screen: int) -> tuple[str, bytes]:
    """In a thread: the whole picture, or an error when it is larger than any screen."""
    stream = it.connect().newStream()
    kind = it.screenshot(stream, screen)
    image = bytearray()
    while chunk := stream.recv(256 * 1024):
        image += chunk
        if len(image) > IMAGE_LIMIT:
            stream.abort()
            raise LibvirtError(f"the guest's screen has more than {IMAGE_LIMIT} bytes")
    stream.finish()
    return kind, bytes(image)


def _shutdown_flags(button: Button) -> int:
    acpi = libvirt.VIR_DOMAIN_SHUTDOWN_ACPI_POWER_BTN if Button.ACPI in button else 0
    agent = libvirt.VIR_DOMAIN_SHUTDOWN_GUEST_AGENT if Button.AGENT in button else 0
    return acpi | agent


def _reboot_flags(button: Button) -> int:
    acpi = libvirt.VIR_DOMAIN_REBOOT_ACPI_POWER_BTN if Button.ACPI in button else 0
    agent = libvirt.VIR_DOMAIN_REBOOT_GUEST_AGENT if Button.AGENT in button else 0
    return acpi | agent


def _limit(button: Button) -> float:
    """An agent has a minute to answer, says libvirt, and nobody is cut off for that."""
    return 75.0 if Button.AGENT in button else CALL_LIMIT_S
