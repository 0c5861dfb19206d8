"""The sandbox around a container: bubblewrap's arguments, as a pure function.

The built-in image is a list of what may be seen of this machine: `/usr`, the links into it, a few files of
`/etc`. It never shows the state of the home, `/root`, `/home` or `/run`. Other images bring a root of their
own. Inside are namespaces of the container's own, but for the network, which is its pod's.

bubblewrap is root until all is in place; the keeper, as the last step inside, takes the rights away. Mounts
are put in their places by the keeper too: links of an image or a volume must not lead bubblewrap astray,
which sees the machine's files while it works.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.embedded.runtime import capabilities, files
from kubevirt.embedded.runtime.container import Container, Mount, Rights

_LINKS: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC: Final = (
    *("alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "ssl/certs"),
    *("mime.types", "nsswitch.conf", "protocols", "services", "profile", "bash.bashrc"),
)
_OWN_ETC: Final = Path(__file__).with_name("etc")
"""Users and groups of the built-in image: whom the machine itself knows is no business of a pod."""
_WAITING: Final = "/dev/.volumes"
"""Where mounts are until the keeper moves them to their places, from inside: see furnish.c."""


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """A command line of bubblewrap. Its options hold the variables of a container, secrets among them,
    and everybody on a machine may read the command lines of others: they are handed over in a file.
    """

    options: Sequence[str]
    command: Sequence[str]


def words(container: Container) -> Words:
    return Words(options=_options(container), command=_command(container))


def _options(container: Container) -> Sequence[str]:
    return [
        *("--die-with-parent", "--json-status-fd", str(files.STATUS)),
        *("--unshare-pid", "--as-pid-1", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
        *(("--hostname", container.hostname) if container.hostname else ()),
        *("--cap-add", "ALL", "--clearenv", "--chdir", "/"),
        *_each("--setenv", container.environment.items()),
        *(_OWN_ROOT if container.root else _built_in()),
        *("--proc", "/proc", "--dev", "/dev"),
        *(word for number, mount in enumerate(container.mounts) for word in _mount(mount, number)),
    ]


def _command(container: Container) -> Sequence[str]:
    return [
        *("bwrap", "--args", str(files.WORDS), "--"),
        *(f"/proc/self/fd/{files.SELF}", "furnish", str(int(container.is_root_read_only))),
        *(_place(mount) for mount in container.mounts),
        "--",
        *last_step(container.rights, container.folder),
        *container.command,
    ]


def last_step(rights: Rights, folder: str) -> Sequence[str]:
    """What `keeper enter` and `keeper join` are told of a command, up to the command itself."""
    mask = capabilities.mask(rights.capabilities)
    return (
        *(str(rights.user), str(rights.group), ",".join(map(str, rights.groups))),
        *(f"{mask:x}", folder, "--"),
    )


_OWN_ROOT: Final = ("--bind", "root", "/")
"""Where the keeper has laid it, in the folder of the attempt."""


@cache
def _built_in() -> Sequence[str]:
    """The same for all, as long as we live: what a machine has below / rarely changes."""
    return tuple(_of_this_machine())


def _of_this_machine() -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _LINKS:
        place = Path("/", name)
        if place.is_symlink():
            yield from ("--symlink", str(place.readlink()), str(place))
        elif place.is_dir():
            yield from ("--ro-bind", str(place), str(place))
    for name in ("/etc", "/etc/ssl", "/var"):  # what is only on the way is made for root alone
        yield from ("--perms", "0755", "--dir", name)
    yield from _each("--ro-bind-try", ((f"/etc/{name}", f"/etc/{name}") for name in _ETC))
    for name in ("passwd", "group"):
        yield from ("--ro-bind", str(_OWN_ETC / name), f"/etc/{name}")
    for name, text in _FOLDERS:
        yield from ("--perms", text, "--dir", name)
    yield from ("--symlink", "../run", "/var/run")


_FOLDERS: Final = (
    *(("/tmp", "1777"), ("/var/tmp", "1777")),  # noqa: S108  # inside
    *(("/run", "0755"), ("/var/lib", "0755"), ("/var/log", "0755"), ("/root", "0700")),
)


def _place(mount: Mount) -> str:
    """A path begins with /, so that no word of a user is taken for a layer."""
    if mount.is_layer:
        return f"+{mount.target}"
    return mount.target if mount.target.startswith("/") else f"/{mount.target}"


def _mount(mount: Mount, number: int) -> Sequence[str]:
    option = "--dev-bind" if mount.is_device else "--ro-bind" if mount.is_read_only else "--bind"
    return (option, mount.source, f"{_WAITING}/{number}")


def _each(option: str, values: Iterable[Sequence[str]]) -> Iterator[str]:
    for value in values:
        yield option
        yield from value
