"""Whether guests can run on the hardware: only a guest that ran there can tell.

A `/dev/kvm` may be there, open, create machines, and never run one to its end; whoever believes it
hangs with every guest. So three things are asked, the cheapest first: does the CPU have it, does the
device open, and does a guest of 400 bytes (`kvm_probe.S`) reach its end: 64 bits, paging, memory, a
timer interrupt out of a halt. The last is remembered until the next boot.

    found = await acceleration(folder)        # usable, and why or why not
"""

import base64
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.boot import boot_id
from kubevirt.base.commands import run
from kubevirt.base.errors import CommandFailed, CommandTimedOut, ConfigError
from kubevirt.base.files import Root

PROBE_LIMIT_S: Final = 3.0
"""It takes 0.1 s where KVM works."""

DEVICE: Final = Path("/dev/kvm")
EMULATOR: Final = "qemu-system-x86_64"
CACHE_NAME: Final = "kvm-probe.json"

_FLAGS: Final = frozenset({"vmx", "svm"})
_CPUINFO: Final = Path("/proc/cpuinfo")

_ROM_SIZE: Final = 64 * 1024
_RESET: Final = 0xFFF0
_EXIT_PORT: Final = "isa-debug-exit,iobase=0xf4,iosize=1"
_SUCCESS: Final = 0x10 << 1 | 1
"""What QEMU makes of the byte that the guest writes to that port."""

_GUEST: Final = base64.b64decode(
    "+i5mDwEWeAFmuBEAAAAPIsBm6hkA//8IALgQAAAAjtiOwI7QvACAAAD8McC/ABAAALkAFAAA86vHBQAQAAAD"
    "IAAAxwUAIAAAAzAAAMcFGCAAAANAAADHBQAwAACDAAAAxwW4TwAAkwDg/scF+E8AAIMA4P+4IAAAAA8i4LgA"
    "EAAADyLYuYAAAMAPMg0AAQAADzC4EQAAgA8iwOqhAP//GAC/AAABALkAAAEASIkMz+L6uQAAAQBIOQzPD4WO"
    "AAAA4vS4UQH//2aJBCUAUgAAZscEJQJSAAAYAGbHBCUEUgAAAI7B6BBmiQQlBlIAAA8BHYkAAAC/AADg/seH"
    "8AAAAP8BAADHh1ADAAAABwAAsBHmIOagsCDmIbAo5qGwBOYhsALmobAB5iHmobD/5qGw/uYhsDTmQ7Cp5kCw"
    "BOZAuwUAAAD79Pr/y3X5sBDm9PTr/bAg5iBIz5AAAAAAAAAAAP//AAAAms8A//8AAACSzwD//wAAAJqvAB8A"
    "WAH///8PAFAAAAAAAAA="
)
"""`kvm_probe.S`, assembled."""


class Acceleration(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict, and its reason as a clause: "the CPU has no vmx or svm"."""

    usable: bool
    reason: str


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about the machine without running anything."""

    architecture: str
    cpu_flags: frozenset[str] = frozenset()
    device_error: str | None = None
    """Why the device does not open; None if it does."""


class _Remembered(msgspec.Struct, frozen=True, kw_only=True):
    boot_id: str
    found: Acceleration


def at_first_sight(machine: Machine) -> Acceleration | None:
    """The verdict, or None if only a guest can tell."""
    if machine.architecture != "x86_64":
        reason = f"there is no probe for {machine.architecture} yet"
        return Acceleration(usable=False, reason=reason)
    if not machine.cpu_flags & _FLAGS:
        return Acceleration(usable=False, reason="the CPU has neither vmx nor svm")
    if machine.device_error is not None:
        reason = f"{DEVICE} does not open: {machine.device_error}"
        return Acceleration(usable=False, reason=reason)
    return None


async def acceleration(cache: Path, *, machine: Machine | None = None) -> Acceleration:
    """The verdict for this machine; `cache` is a folder of ours that outlives the caller."""
    if verdict := at_first_sight(machine or this_machine()):
        return verdict
    this_boot = boot_id()
    if remembered := _remembered(cache, this_boot):
        return remembered
    found = await probe()
    _remember(cache, _Remembered(boot_id=this_boot, found=found))
    return found


def this_machine() -> Machine:
    """Where the CPU cannot do it, the device is not even touched."""
    flags = cpu_flags(_CPUINFO.read_text(errors="replace"))
    return Machine(
        architecture=platform.machine(),
        cpu_flags=flags,
        device_error=_opening_error(DEVICE) if flags & _FLAGS else None,
    )


def cpu_flags(cpuinfo: str) -> frozenset[str]:
    """Of the first CPU; the others are like it."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "flags":
            return frozenset(value.split())
    return frozenset()


async def probe(
    *, emulator: str = EMULATOR, accelerator: str = "kvm", limit_s: float = PROBE_LIMIT_S
) -> Acceleration:
    """Runs the smallest guest that proves something, and ends it whatever it does."""
    with _rom() as rom:
        try:
            done = await run(
                emulator,
                *("-no-user-config", "-nodefaults", "-display", "none"),
                *("-machine", "pc", "-accel", accelerator, "-m", "16"),
                *("-bios", f"/proc/self/fd/{rom}", "-device", _EXIT_PORT, "-no-reboot"),
                timeout_s=limit_s,
                check=False,
                pass_fds=[rom],
            )
        except CommandTimedOut:
            reason = f"a guest of a few instructions did not end within {limit_s:g} s"
            return Acceleration(usable=False, reason=reason)
        except (CommandFailed, ConfigError) as error:
            return Acceleration(usable=False, reason=f"a guest cannot be tried: {error}")
    if done.exit_code != _SUCCESS:
        said = " ".join(done.stderr.decode(errors="replace").split())[-200:]
        reason = f"a guest of a few instructions failed with {done.exit_code}: {said}"
        return Acceleration(usable=False, reason=reason)
    return Acceleration(usable=True, reason="a guest ran on the hardware")


@contextmanager
def _rom() -> Iterator[int]:
    """A BIOS whose first instruction, where the CPU begins, jumps to our guest."""
    jump = b"\xe9" + (-_RESET - 3 & 0xFFFF).to_bytes(2, "little")
    rom = _GUEST.ljust(_RESET, b"\xf4") + jump
    fd = os.memfd_create("kvm-probe")
    try:
        os.write(fd, rom.ljust(_ROM_SIZE, b"\xf4"))
        yield fd
    finally:
        os.close(fd)


def _opening_error(device: Path) -> str | None:
    try:
        os.close(os.open(device, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return os.strerror(error.errno or 0)
    return None


def _remembered(cache: Path, this_boot: str) -> Acceleration | None:
    try:
        with Root.open(cache) as folder:
            known = msgspec.json.decode(folder.read(CACHE_NAME, limit=4096), type=_Remembered)
    except (OSError, msgspec.MsgspecError):
        return None  # never asked, or a file that is not ours to read: ask again
    return known.found if known.boot_id == this_boot else None


def _remember(cache: Path, found: _Remembered) -> None:
    with Root.open(cache) as folder:
        folder.write(CACHE_NAME, msgspec.json.encode(found), mode=0o644, durable=False)
