"""The sandbox around a container: bubblewrap's arguments, as a pure function.

The built-in image is a list of what may be seen of this machine: `/usr`, the links into it, a few files of
`/etc`. It never shows the state of the home, `/root`, `/home` or `/run`. Other images bring a root of their
own. Inside are namespaces of the container's own, but for the network, which is its pod's.

bubblewrap is root until all is in place; the keeper, as the last step inside, takes the rights away.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from kubevirt.embedded.runtime import capabilities, files
from kubevirt.embedded.runtime.container import Container, Mount, Rights

_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC: Final = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "ssl/certs"),
    *("mime.types", "nsswitch.conf", "protocols", "services", "profile", "bash.bashrc"),
)
_HIDDEN: Final = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug")
"""What the common runtimes cover in every container; what may not be written to bubblewrap knows."""


def arguments(container: Container) -> list[str]:
    """All words of the command line, the first program first."""
    into_network = ("nsenter", f"--net={container.network}", "--") if container.network else ()
    return [
        *into_network,
        *("bwrap", "--die-with-parent", "--json-status-fd", str(files.STATUS)),
        *("--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(("--hostname", container.hostname) if container.hostname else ()),
        *("--cap-add", "ALL", "--clearenv", "--chdir", "/"),
        *_each("--setenv", container.environment.items()),
        *(_own_root(container) if container.root else _built_in()),
        *("--proc", "/proc", "--dev", "/dev"),
        *(word for mount in container.mounts for word in _mount(mount)),
        *_each("--ro-bind", (("/dev/null", path) for path in _HIDDEN if Path(path).exists())),
        *(("--remount-ro", "/") if container.is_root_read_only else ()),
        "--",
        *(f"/proc/self/fd/{files.SELF}", "enter", *last_step(container.rights, container.folder)),
        *container.command,
    ]


def last_step(rights: Rights, folder: str) -> Sequence[str]:
    """What `keeper enter` and `keeper join` are told of a command, up to the command itself."""
    mask = capabilities.mask(rights.capabilities)
    return (
        *(str(rights.user), str(rights.group), ",".join(map(str, rights.groups))),
        *(f"{mask:x}", str(int(rights.no_new_privileges)), folder, "--"),
    )


def _own_root(container: Container) -> Iterator[str]:
    yield from ("--bind", container.root, "/")


def _built_in() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _LINKS:
        place = Path("/", name)
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))
    yield from _each("--ro-bind-try", ((f"/etc/{name}", f"/etc/{name}") for name in _ETC))
    for name, text in _FOLDERS:
        yield from ("--perms", text, "--dir", name)
    yield from ("--symlink", "../run", "/var/run")


_FOLDERS: Final = (
    *(("/tmp", "1777"), ("/var/tmp", "1777")),  # noqa: S108  # inside
    *(("/run", "0755"), ("/var/lib", "0755"), ("/var/log", "0755"), ("/root", "0700")),
)


def _mount(mount: Mount) -> Sequence[str]:
    if mount.is_device:
        return ("--dev-bind", mount.source, mount.target)
    option = "--ro-bind" if mount.is_read_only else "--bind"
    return (*_above(mount.target), option, mount.source, mount.target)


def _above(target: str) -> Iterator[str]:
    """The folders that a mount hangs in. bubblewrap would make them too, but for root only."""
    above = [str(each) for each in reversed(PurePosixPath(target).parents)]
    return _each("--dir", ((folder,) for folder in above if folder != "/"))


def _each(option: str, values: Iterable[Sequence[str]]) -> Iterator[str]:
    for value in values:
        yield option
        yield from value
