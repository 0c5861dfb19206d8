"""The guest's files: programs of Debian's packages with their libraries, ours, and `guest/root`.

Of a package only what is listed here gets in, and of libraries only those that some program asks for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from guestimage import elf, errors, guests, packages, settings, tools
from guestimage.tree import Tree

OVERLAY = settings.SOURCES / "root"

_MERGED = ("bin", "sbin", "lib", "lib64")
"""Folders that are links into /usr, as in Debian."""

_PACKAGES = (
    "busybox-static",
    "dropbear-bin",
    "openssh-sftp-server",
    "wide-dhcpv6-client",
    "qemu-guest-agent",
)
_SFTP = "usr/lib/openssh/sftp-server"
_PROGRAMS = ("usr/sbin/dropbear", "usr/sbin/dhcp6c", _SFTP)
_AGENT = "usr/sbin/qemu-ga"
_OUR_PROGRAMS = {
    "yamltree": ("usr/lib/guest/yamltree", 0o755),
    "growroot": ("usr/lib/guest/growroot", 0o755),
    "sudo": ("usr/bin/sudo", 0o4755),
}
_LIBRARY_FOLDER = "usr/lib/x86_64-linux-gnu"
_EMPTY_FOLDERS = ("dev", "proc", "sys", "run", "mnt", "var/lib/dhcpv6", "var/log", "etc/dropbear")


def needed_packages() -> list[str]:
    """Everything that is unpacked. Fetching an agentless guest's few libraries too many is cheap."""
    return [*_PACKAGES, *packages.libraries_of(_PACKAGES)]


@dataclass(frozen=True)
class Parts:
    """What a root file system is put together from."""

    unpacked: Path
    """Debian's packages, one over the other."""
    programs: Mapping[str, bytes]
    """Ours, compiled."""


def assemble(parts: Parts, guest: guests.Guest) -> Tree:
    tree = Tree()
    for name in _MERGED:
        tree.add_link(name, f"usr/{name}")
    for name in _EMPTY_FOLDERS:
        tree.add_folder(name)
    tree.add_folder("root", mode=0o700)
    tree.add_folder("tmp", mode=0o1777)
    tree.add_link("var/run", "/run")
    tree.add_link("etc/resolv.conf", "/run/resolv.conf")
    tree.add_link("init", "/sbin/init")
    tree.add_link("usr/lib/sftp-server", f"/{_SFTP}")  # where dropbear looks for it
    _add_busybox(tree, parts.unpacked)
    for path in (*_PROGRAMS, *([_AGENT] if guest.agent else [])):
        tree.add_file(path, _find(parts.unpacked, [path]).read_bytes(), mode=0o755)
    for name, (path, mode) in _OUR_PROGRAMS.items():
        tree.add_file(path, parts.programs[name], mode=mode)
    _add_overlay(tree)
    guests.add_identity(guest, tree)
    _add_libraries(tree, parts.unpacked)
    return tree


def _add_busybox(tree: Tree, unpacked: Path) -> None:
    program = _find(unpacked, ["usr/bin/busybox", "bin/busybox"])
    # ping, su and passwd need root; busybox drops it at once for every other name it has.
    tree.add_file("usr/bin/busybox", program.read_bytes(), mode=0o4755)
    for path in tools.run(program, "--list-full").decode().split():
        merged = _merged(path)
        if merged not in tree:
            tree.add_link(merged, "/usr/bin/busybox")


def _add_overlay(tree: Tree) -> None:
    for path in sorted(OVERLAY.rglob("*")):
        name = str(path.relative_to(OVERLAY))
        if path.is_symlink():
            tree.add_link(name, str(path.readlink()))
        elif path.is_file():
            # Only whether a file is a program: the rest of a mode depends on the umask of a checkout.
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            tree.add_file(name, path.read_bytes(), mode=mode)


def _add_libraries(tree: Tree, unpacked: Path) -> None:
    """Add what the programs need, what those libraries need, and the loader."""
    waiting = [entry.content for _path, entry in tree if entry.is_file]
    while waiting:
        program = waiting.pop()
        if (loader := elf.loader(program)) and (path := _merged(loader.lstrip("/"))) not in tree:
            name = PurePosixPath(loader).name
            tree.add_file(path, _library(unpacked, name).read_bytes(), mode=0o755)
        for name in elf.needs(program):
            path = f"{_LIBRARY_FOLDER}/{name}"
            if path in tree or f"usr/lib64/{name}" in tree:
                continue
            content = _library(unpacked, name).read_bytes()
            tree.add_file(path, content, mode=0o755)
            waiting.append(content)


def _library(unpacked: Path, name: str) -> Path:
    folders = (_LIBRARY_FOLDER, "lib/x86_64-linux-gnu")
    return _find(unpacked, [f"{folder}/{name}" for folder in folders])


def _find(unpacked: Path, candidates: Iterable[str]) -> Path:
    paths = [unpacked / candidate for candidate in candidates]
    for path in paths:
        if path.is_file():
            return path
    raise errors.GuestError(
        f"none of the guest's packages holds {paths[0].name}; the list in rootfs.py lacks the one "
        "that does in this version of Debian"
    )


def _merged(path: str) -> str:
    return path if path.startswith("usr/") or "/" not in path else f"usr/{path}"
