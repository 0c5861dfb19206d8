"""The sandbox around a launcher: bubblewrap's arguments, as a pure function.

Its root is a list of what may be seen, not of what may not: `/usr`, the links into it, the Python that runs
us, the launcher's own folders, the disks that were given. There is no `/root`, `/home` or `/run` of the
machine, and no state of other guests. Inside are namespaces of its own, one unprivileged user, no capabilities
and no way to gain any, also not in a namespace made for that: system calls are filtered as in a pod.

bubblewrap is started by root and has to stay root until its mounts are done; `setpriv` then lets go of
everything.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import msgspec

import kubevirt
from kubevirt.components.launcher.standalone.folders import LAUNCHER
from kubevirt.components.launcher.standalone.mounts import Mount

_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC: Final = ("/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives")
_SYS: Final = ("/sys/devices/system", "/sys/kernel/mm/hugepages")
"""What libvirt reads of processors and memory."""


class Sandbox(msgspec.Struct, frozen=True, kw_only=True):
    etc: Path
    """A folder with the files of `accounts`."""
    binds: Mapping[str, Path]
    """The launcher's own folders, path inside to place outside."""
    mounts: Sequence[Mount] = ()
    devices: Mapping[str, Path] = {}
    """Device nodes: path inside to node outside."""
    hostname: str
    status_fd: int = -1
    """Where bubblewrap writes the pid of the first process inside, as JSON."""
    calls_fd: int | None = None
    """A filter of system calls, for the kernel."""
    gate_fd: int | None = None
    """What bubblewrap reads from before it goes on: nothing inside runs until its other end is closed."""


def arguments(
    sandbox: Sandbox, command: Sequence[str], environment: Mapping[str, str]
) -> list[str]:
    """All words of the command line, `bwrap` first."""
    return [
        *("bwrap", "--die-with-parent", "--json-status-fd", str(sandbox.status_fd)),
        *(() if sandbox.gate_fd is None else ("--block-fd", str(sandbox.gate_fd))),
        *(() if sandbox.calls_fd is None else ("--seccomp", str(sandbox.calls_fd))),
        *("--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", sandbox.hostname, "--chdir", "/", "--clearenv"),
        *_each("--setenv", environment.items()),
        *_system(),
        *("--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--tmpfs", "/tmp"),  # noqa: S108
        *_each("--dir", ((folder,) for folder in _folders_above(sandbox))),
        *_each("--ro-bind", ((str(path), str(path)) for path in python_paths())),
        *_each("--ro-bind", ((f"{sandbox.etc}/{name}", f"/etc/{name}") for name in _ACCOUNTS)),
        *_each("--ro-bind-try", ((path, path) for path in (*_ETC, *_SYS))),
        *("--symlink", "var/run", "/run"),
        *_each("--bind", ((str(place), path) for path, place in sandbox.binds.items())),
        *_each("--dev-bind", ((str(node), path) for path, node in sandbox.devices.items())),
        *(word for mount in sandbox.mounts for word in _mount(mount)),
        *("--remount-ro", "/"),
        *("--cap-drop", "ALL"),
        *_each("--cap-add", ((each,) for each in _UNTIL_SETPRIV)),
        *_LETTING_GO,
        *command,
    ]


_ACCOUNTS: Final = ("passwd", "group", "hosts", "nsswitch.conf")


def accounts(hostname: str) -> Mapping[str, str]:
    """Files of /etc, by name. libvirt asks for the address of its own host; without an answer at hand
    it would wait for name servers that are not there.
    """
    return {
        "passwd": f"qemu:x:{LAUNCHER}:{LAUNCHER}::/var/run/libvirt:/usr/sbin/nologin\n",
        "group": f"qemu:x:{LAUNCHER}:\n",
        "hosts": f"127.0.0.1 localhost {hostname}\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }


_UNTIL_SETPRIV: Final = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")
_LETTING_GO: Final = (
    *("setpriv", f"--reuid={LAUNCHER}", f"--regid={LAUNCHER}", "--clear-groups"),
    *("--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs"),
    "--",
)


def _each(option: str, values: Iterable[Sequence[str]]) -> Iterator[str]:
    for value in values:
        yield option
        yield from value


def _system() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _LINKS:
        place = Path("/", name)
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))


def _folders_above(sandbox: Sandbox) -> list[str]:
    """Of all that is put in place. bubblewrap would make them too, but for root only."""
    targets = [*map(str, python_paths()), *sandbox.binds, *sandbox.devices, *_ETC, *_SYS]
    above = {str(folder) for target in targets for folder in PurePosixPath(target).parents}
    return sorted(above - {"/", "/dev"})  # parents first


def python_paths() -> list[Path]:
    """Where our own code and the libraries lie, as far as that is not /usr."""
    package = Path(kubevirt.__file__).parent
    candidates = [Path(sys.prefix), Path(sys.base_prefix), package]
    outside_usr = [path for path in candidates if not path.is_relative_to("/usr")]
    return [
        path
        for path in outside_usr
        if not any(path != other and path.is_relative_to(other) for other in outside_usr)
    ]


def _mount(mount: Mount) -> Sequence[str]:
    if mount.is_device:
        return ("--dev-bind", str(mount.source), mount.target)
    option = "--ro-bind" if mount.read_only else "--bind"
    return (option, os.fspath(mount.source), mount.target)
