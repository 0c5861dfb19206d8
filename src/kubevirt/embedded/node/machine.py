"""What a node can tell of the machine that it is."""

import os
import platform
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.boot import boot_id
from kubevirt.embedded.node import admission

_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64", "riscv64": "riscv64"}
_LIMIT: Final = 1 << 20


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    cpus: int
    memory_bytes: int
    disk_bytes: int
    architecture: str
    kernel: str
    system: str
    """As its maker calls it."""
    machine_id: str
    system_uuid: str
    boot_id: str


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of it."""

    memory_bytes: int
    disk_bytes: int
    processes: int
    """That may still be started."""


def look(folder: Path) -> Machine:
    """`folder` is on the disk that pods write to."""
    disk = os.statvfs(folder)
    return Machine(
        cpus=len(os.sched_getaffinity(0)),
        memory_bytes=_memory("MemTotal"),
        disk_bytes=disk.f_frsize * disk.f_blocks,
        architecture=_ARCHITECTURES.get(platform.machine(), platform.machine()),
        kernel=platform.release(),
        system=_system(),
        machine_id=_text("/etc/machine-id"),
        system_uuid=_text("/sys/class/dmi/id/product_uuid") or _text("/etc/machine-id"),
        boot_id=boot_id(),
    )


def load(folder: Path) -> Load:
    disk = os.statvfs(folder)
    running = _text("/proc/loadavg").split()[3].partition("/")[2]
    return Load(
        memory_bytes=_memory("MemAvailable"),
        disk_bytes=disk.f_frsize * disk.f_bavail,
        processes=int(_text("/proc/sys/kernel/pid_max")) - int(running),
    )


def ports_in_use() -> frozenset[admission.Port]:
    """In the network of the calling thread, which may be another one than the process's."""
    names = ("tcp", "tcp6", "udp", "udp6")
    return admission.listening((name, _text(f"/proc/thread-self/net/{name}")) for name in names)


def _memory(name: str) -> int:
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def _system() -> str:
    for line in _text("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return platform.system()


def _text(path: str) -> str:
    with suppress(OSError), Path(path).open(encoding="utf-8", errors="replace") as file:
        return file.read(_LIMIT).strip()
    return ""
