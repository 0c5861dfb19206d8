"""`<devices>`: everything that is plugged into the guest."""

from msgspec import field

from kubevirt.virt.domain.balloon import Balloon
from kubevirt.virt.domain.channel import Channel
from kubevirt.virt.domain.controller import Controller
from kubevirt.virt.domain.disk import Disk
from kubevirt.virt.domain.filesystem import Filesystem
from kubevirt.virt.domain.graphics import Graphics, Video
from kubevirt.virt.domain.hostdev import Hostdev
from kubevirt.virt.domain.input import Input
from kubevirt.virt.domain.interface import Interface
from kubevirt.virt.domain.memory import MemoryDevice
from kubevirt.virt.domain.panic import Panic
from kubevirt.virt.domain.redirdev import RedirectedDevice
from kubevirt.virt.domain.rng import Rng
from kubevirt.virt.domain.serial import Console, Serial
from kubevirt.virt.domain.sound import Sound
from kubevirt.virt.domain.tpm import Tpm
from kubevirt.virt.domain.vsock import Vsock
from kubevirt.virt.domain.watchdog import Watchdog
from kubevirt.virt.domain.xml.element import Element


class Devices(Element, frozen=True, kw_only=True):
    """In the order in which libvirt writes them."""

    emulator: str | None = None
    disks: tuple[Disk, ...] = field(default=(), name="disk")
    controllers: tuple[Controller, ...] = field(default=(), name="controller")
    filesystems: tuple[Filesystem, ...] = field(default=(), name="filesystem")
    interfaces: tuple[Interface, ...] = field(default=(), name="interface")
    serials: tuple[Serial, ...] = field(default=(), name="serial")
    consoles: tuple[Console, ...] = field(default=(), name="console")
    channels: tuple[Channel, ...] = field(default=(), name="channel")
    inputs: tuple[Input, ...] = field(default=(), name="input")
    tpms: tuple[Tpm, ...] = field(default=(), name="tpm")
    graphics: tuple[Graphics, ...] = ()
    sounds: tuple[Sound, ...] = field(default=(), name="sound")
    videos: tuple[Video, ...] = field(default=(), name="video")
    hostdevs: tuple[Hostdev, ...] = field(default=(), name="hostdev")
    redirdevs: tuple[RedirectedDevice, ...] = field(default=(), name="redirdev")
    watchdogs: tuple[Watchdog, ...] = field(default=(), name="watchdog")
    memballoon: Balloon | None = None
    rngs: tuple[Rng, ...] = field(default=(), name="rng")
    panics: tuple[Panic, ...] = field(default=(), name="panic")
    memories: tuple[MemoryDevice, ...] = field(default=(), name="memory")
    vsock: Vsock | None = None
