"""Programs of a home that are processes of their own: found by looking, in the kernel's list of processes.

Nothing is remembered of them, so nothing of it can be wrong: they are those that were given a kubeconfig from the home's folder.
"""

import os
import select
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import ConfigError
from kubevirt.base.log import get_logger
from kubevirt.embedded.home import Home
from kubevirt.embedded.programs import command_lines

log = get_logger(__name__)

KUBECONFIG: Final = ".kubeconfig"
_KILLED_S: Final = 10.0
_PROC: Final = Path("/proc")


class Sighted(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    name: str
    """virt-api, virt-controller, virt-handler-NODE."""
    pid: int
    memory_bytes: int


def kubeconfig(home: Home, name: str) -> Path:
    return home.programs / f"{name}{KUBECONFIG}"


def log_file(home: Home, name: str) -> Path:
    return home.programs / f"{name}.log"


def look(home: Home) -> list[Sighted]:
    """By name."""
    found = [
        Sighted(name=name, pid=pid, memory_bytes=_memory(pid)) for name, pid in _processes(home)
    ]
    return sorted(found, key=lambda each: (each.name, each.pid))


def end_all(home: Home) -> None:
    """At once. They were to end with the process that started them; whoever did not is the home's all the same, and
    a second one of its kind must not be.
    """
    for name, pid in list(_processes(home)):
        with suppress(ProcessLookupError):
            pidfd = os.pidfd_open(pid)
            try:
                # The number may be another's by now; from here on it is held.
                if _name(home, pid) == name:
                    log.warning("a program outlived its home and is ended", program=name, pid=pid)
                    _end(pidfd, name, pid)
            finally:
                os.close(pidfd)


def _end(pidfd: int, name: str, pid: int) -> None:
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    if not select.select([pidfd], [], [], _KILLED_S)[0]:
        raise ConfigError(
            f"{name}, process {pid}, was killed and does not end: it hangs in the kernel, mostly on a disk that does "
            "not answer; see to that, or restart the machine",
            reason="Timeout",
        )


def _processes(home: Home) -> Iterator[tuple[str, int]]:
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (name := _name(home, int(folder.name))):
            yield name, int(folder.name)


def _name(home: Home, pid: int) -> str:
    """Empty if it is none of them, or gone."""
    try:
        said = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ""
    if KUBECONFIG.encode() not in said:
        return ""
    words = said.decode(errors="replace").split("\0")
    for each in words:
        if each.endswith(KUBECONFIG) and _is_in(Path(each), home.programs):
            return Path(each).stem if command_lines.is_program(words, each) else ""
    return ""


def _is_in(file: Path, folder: Path) -> bool:
    """However the way to it was written."""
    return file.is_absolute() and file.parent.resolve() == folder.resolve()


def _memory(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(each.split()[1]) << 10 for each in lines if each.startswith("VmRSS:")), 0)
