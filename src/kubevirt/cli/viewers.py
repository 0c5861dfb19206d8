"""Programs that show a VNC screen: which there are on this machine, and how each is called."""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kubevirt.base.errors import ConfigError

_MAC: Final = "darwin"


@dataclass(frozen=True, slots=True)
class Viewer:
    program: str
    _arguments: Callable[[str], Sequence[str]]

    def arguments(self, address: str, port: int) -> Sequence[str]:
        host = f"[{address}]" if ":" in address else address
        return self._arguments(f"{host}:{port}")


# Two colons: a port, where one means the number of a display.
_ARGUMENTS: Final[Mapping[str, Callable[[str], Sequence[str]]]] = {
    "remote-viewer": lambda where: (f"vnc://{where}",),
    "tiger": lambda where: ("::".join(where.rsplit(":", 1)),),
    "chicken": lambda where: (where,),
    "real": lambda where: (where, "-WarnUnencrypted=0", "-Shared=0", "-ShareFiles=0"),
}

_PROGRAMS: Final[Mapping[str, Mapping[str, str]]] = {
    _MAC: {
        "tiger": "/Applications/TigerVNC Viewer*.app/Contents/MacOS/TigerVNC Viewer",
        "chicken": "/Applications/Chicken.app/Contents/MacOS/Chicken",
        "real": "/Applications/VNC Viewer.app/Contents/MacOS/vncviewer",
        "remote-viewer": "remote-viewer",
    },
    "linux": {"remote-viewer": "remote-viewer", "tiger": "vncviewer", "real": "vncviewer"},
}
"""In the order in which they are looked for."""


def find(kind: str = "", path: str = "", *, system: str = sys.platform) -> Viewer:
    """`kind` and `path` are what a person chose; a path alone is taken for TigerVNC's."""
    programs = _PROGRAMS.get(system, _PROGRAMS["linux"])
    if path:
        return Viewer(_there(path), _ARGUMENTS[kind or "tiger"])
    for each, program in programs.items():
        if kind in ("", each) and (found := _found(program)):
            return Viewer(found, _ARGUMENTS[each])
    wanted = [programs[kind]] if kind in programs else sorted(set(programs.values()))
    raise ConfigError(
        f"there is no VNC viewer on this machine: no {' and no '.join(wanted)}; install one (on Debian:"
        " apt-get install virt-viewer), or connect your own to the port of: virtctl vnc --proxy-only",
        reason="ProgramNotFound",
    )


def _there(path: str) -> str:
    if not shutil.which(path):
        raise ConfigError(f"there is no program {path}", reason="ProgramNotFound")
    return path


def _found(program: str) -> str:
    if "*" in program:
        root = Path("/")
        newest = sorted(str(each) for each in root.glob(program.lstrip("/")))
        return newest[-1] if newest else ""
    return shutil.which(program) or ""
