"""What launchers of this home need not ask QEMU, since somebody has asked it before they came.

It lies in the launcher's image (`launcher.LEARNED`) and belongs to the programs and the kernel that were asked: with
others it is learned anew. Who starts a guest meanwhile, or if it cannot be learned, asks QEMU himself: that takes longer,
and nothing else.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubevirt.base import commands
from kubevirt.base.errors import KubevirtError
from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.embedded.runtime.images import shown
from kubevirt.embedded.runtime.images.launcher import LEARNED
from kubevirt.host import kvm

_PROGRAM: Final = "kubevirt.host.libvirt.learning"
_ASKED: Final = "asked"
"""Of whom it was learned."""
_LIMIT_S: Final = 120.0
_NAMES: Final = ("libvirtd", "virtqemud", f"qemu-system-{os.uname().machine}")

_log = get_logger(__name__)


async def learn(image: Path) -> None:
    """Once for a machine's programs, into the folder of the launcher's image. A home does without, if it must."""
    folder = image / LEARNED
    try:
        shown.make(folder)
        # As launchers will have it: libvirt believes nobody who had more, or less.
        devices = (str(kvm.DEVICE),) if (await kvm.acceleration(image)).usable else ()
        asked = _asked(devices)
        if _read(folder / _ASKED) != asked:
            await _ask(folder, devices, asked)
    except (KubevirtError, OSError) as error:
        _log.warning("launchers will ask QEMU themselves, which takes longer", error=error)


async def _ask(folder: Path, devices: Sequence[str], asked: str) -> None:
    with Root.open(folder) as root, root.followed(".") as fd:
        # By a descriptor: whoever looks for programs of a home by its path need not wait for this one.
        words = ("-I", "-m", _PROGRAM, f"/proc/self/fd/{fd}", *devices)
        await commands.run(sys.executable, *words, timeout_s=_LIMIT_S, pass_fds=[fd])
    shown.write(folder / _ASKED, asked)
    _log.info("launchers need not ask QEMU what it can do")


def _asked(devices: Sequence[str]) -> str:
    """Programs by their time, as libvirt knows them."""
    found = (shutil.which(name, path=commands.SEARCH_PATH) for name in _NAMES)
    programs = (f"{path} {Path(path).stat().st_ctime_ns}" for path in found if path)
    return "\n".join((*programs, os.uname().release, *devices, ""))


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""
