"""What must be in place before a launcher's first process starts, and how it is started.

A pod does it from inside, the stand-alone mode from outside, where the launcher's folders lie elsewhere:
hence `outside`. What is written is the same.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.components.launcher import monitor
from kubevirt.components.launcher.settings import Settings, write
from kubevirt.host.libvirt.daemon import Daemon

SETTINGS: Final = "settings.json"
MANAGER: Final = "kubevirt.components.launcher.manager"


def prepare(settings: Settings, outside: Callable[[str], Path] = Path) -> None:
    """Writes the settings of manager and libvirt. `outside` tells where a launcher's path is for us."""
    folder = outside(settings.folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for socket in (settings.layout.command_socket, settings.layout.serial_socket(settings.uid)):
        outside(str(Path(socket).parent)).mkdir(mode=0o755, parents=True, exist_ok=True)
    write(folder / SETTINGS, settings)
    _prepare_daemon(settings, outside)


def _prepare_daemon(settings: Settings, outside: Callable[[str], Path]) -> None:
    """The daemon's paths are short inside. Seen from outside its folder has a long one, for which a
    descriptor stands here.
    """
    home = outside(settings.libvirt.home)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        there = msgspec.structs.replace(settings.libvirt, home=f"/proc/self/fd/{fd}")
        Daemon(there).prepare()
    finally:
        os.close(fd)


def command(
    settings: Settings, grace_s: float, *, lifeline: int | None = None
) -> tuple[list[str], Mapping[str, str]]:
    """Arguments and the whole environment of the first process; what they mean says `monitor`."""
    daemon = Daemon(settings.libvirt)
    python = sys.executable
    argv = [
        *(python, "-I", "-S", monitor.__file__, settings.folder, f"{grace_s:g}"),
        *([] if lifeline is None else [str(lifeline)]),
        *("--", *daemon.argv),
        *("--", python, "-I", "-m", MANAGER, f"{settings.folder}/{SETTINGS}"),
    ]
    return argv, daemon.environment
