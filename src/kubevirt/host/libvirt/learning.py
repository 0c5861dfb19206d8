"""Learning what this machine's QEMU can do, once for all daemons to come.

    python -I -m kubevirt.host.libvirt.learning TARGET [/dev/kvm]

A daemon asks QEMU before the first guest, which takes half a second of a processor. What it learns is a file, and
daemons that find it (`DaemonSettings.capabilities_seed`) ask no more; they do not believe one of another QEMU,
libvirt or kernel, nor one that was learned with KVM where there is none. So the file may come from a daemon that never had
a guest, and nobody has to trust one that had.

It is a program of its own: libvirt's library stays out of the process that wants to know. The file is in the folder
TARGET afterwards. If whoever wanted it dies, the program ends, and takes with it what it has made.
"""

import asyncio
import ctypes
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from kubevirt.base import commands
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.errors import KubevirtError
from kubevirt.host.libvirt.arrival import wait_for_socket
from kubevirt.host.libvirt.connection import connect
from kubevirt.host.libvirt.daemon import Daemon, DaemonSettings

LIMIT_S: Final = 60.0
_WHEN_PARENT_DIES: Final = 1
"""PR_SET_PDEATHSIG."""
_USER: Final = "107"
"""Anybody but root: then a daemon is one of a session. It is the user of guests."""
_ACCOUNTS: Final = {
    "passwd": f"qemu:x:{_USER}:{_USER}::/:/bin/false\n",
    "group": f"qemu:x:{_USER}:\n",
}
"""libvirt refuses to be somebody without a name."""
_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC: Final = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/hosts")
_SYS: Final = ("/sys/devices/system", "/sys/kernel/mm/hugepages")


async def learn(target: Path, devices: Sequence[str], clock: Clock) -> None:
    # Short, since sockets lie below it.
    with tempfile.TemporaryDirectory(prefix="kvl-", ignore_cleanup_errors=True) as folder:
        await _ask(Daemon(DaemonSettings(home=folder)), devices, clock)
        _keep(Daemon(DaemonSettings(home=folder)).capabilities, target)


async def _ask(daemon: Daemon, devices: Sequence[str], clock: Clock) -> None:
    daemon.prepare()
    for name, text in _ACCOUNTS.items():
        (daemon.home / name).write_text(text)
    async with commands.spawn("bwrap", *_sandbox(daemon, devices)):
        await wait_for_socket(daemon.socket, clock=clock, limit_s=LIMIT_S)
        async with connect(daemon.socket, clock=clock, limit_s=LIMIT_S) as connection:
            await connection.call(
                "ask what QEMU offers",
                lambda it: it.getDomainCapabilities(None, os.uname().machine, None, None, 0),
                limit_s=LIMIT_S,
            )


def _keep(learned: Path, target: Path) -> None:
    """A daemon may look at any moment: a file is there whole or not at all."""
    for file in learned.glob("*.xml"):
        draft = target / f".{file.name}"
        shutil.copyfile(file, draft)
        draft.chmod(0o644)
        draft.rename(target / file.name)


def _sandbox(daemon: Daemon, devices: Sequence[str]) -> list[str]:
    """It sees programs and processors, has no network, and ends with us."""
    home = str(daemon.home)
    links = [Path(f"/{each}") for each in _LINKS if Path(f"/{each}").is_symlink()]
    return [
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net"),
        *("--uid", _USER, "--gid", _USER, "--die-with-parent", "--clearenv"),
        *(word for pair in daemon.environment.items() for word in ("--setenv", *pair)),
        *("--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"),
        *(word for link in links for word in ("--symlink", str(link.readlink()), str(link))),
        *(word for name in _ACCOUNTS for word in ("--ro-bind", f"{home}/{name}", f"/etc/{name}")),
        *(word for path in (*_ETC, *_SYS) for word in ("--ro-bind-try", path, path)),
        *(word for path in devices for word in ("--dev-bind", path, path)),
        *("--tmpfs", "/tmp", "--bind", home, home),  # noqa: S108
        *daemon.argv,
    ]


async def _learn_until_told(target: Path, devices: Sequence[str]) -> None:
    if (running := asyncio.current_task()) is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    await learn(target, devices, SystemClock())


def main(argv: list[str]) -> int:
    ctypes.CDLL(None).prctl(_WHEN_PARENT_DIES, signal.SIGTERM)
    try:
        asyncio.run(_learn_until_told(Path(argv[0]), argv[1:]))
    except asyncio.CancelledError:
        return 1
    except KubevirtError as error:
        print(error, file=sys.stderr)  # noqa: T201  # whoever started us reads it
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
