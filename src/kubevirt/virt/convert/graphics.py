"""The screen: VNC on a socket, and the card behind it."""

from typing import Final

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.graphics import Graphics, Listen, Video, VideoModel
from kubevirt.virt.errors import SpecError, shown

TYPES: Final = ("vga", "bochs", "virtio", "ramfb", "cirrus")
VRAM_KIB: Final = 16384


def graphics(guest: Guest) -> tuple[Graphics, ...]:
    if not guest.has_graphics:
        return ()
    socket = guest.facts.layout.vnc_socket(guest.uid)
    return (Graphics(type="vnc", listen=Listen(type="socket", socket=socket)),)


def videos(guest: Guest) -> tuple[Video, ...]:
    if not guest.has_graphics:
        return ()
    chosen = guest.devices.video.type if guest.devices.video else None
    if chosen and chosen not in TYPES:
        raise SpecError(f"video type {shown(chosen)} is not known; use one of {', '.join(TYPES)}")
    kind = chosen or _usual(guest)
    model = VideoModel(
        type=kind,
        vram=VRAM_KIB if kind in {"vga", "bochs", "cirrus"} else None,
        heads=None if kind == "ramfb" else 1,
    )
    return (Video(model=model),)


def _usual(guest: Guest) -> str:
    """EFI has no use for a VGA BIOS; bochs is the same card without one."""
    usual = guest.architecture.video
    return "bochs" if usual == "vga" and guest.has_efi else usual
