"""The few programs of the guest that Debian has not, compiled from `guest/programs`."""

from collections.abc import Iterator
from pathlib import Path

from guestimage import cache, settings, tools

FOLDER = settings.SOURCES / "programs"

_FLAGS = (
    *("-std=gnu11", "-Os", "-s", "-Wall", "-Wextra", "-Werror", "-fstack-protector-strong"),
    # Neither the folder nor the moment of the build may show in the program.
    *("-Wl,--build-id=none", "-ffile-prefix-map=/=/"),
)
_LIBRARIES = {"yamltree": ("-l:libyaml.a",)}
"""Linked into the program: one user is not worth a shared library."""


def inputs() -> Iterator[str | bytes]:
    yield repr(_FLAGS)
    yield from cache.contents_of(FOLDER)


def compile_all(folder: Path) -> dict[str, bytes]:
    """Program name to its bytes."""
    return {source.stem: compile_one(source, folder) for source in sorted(FOLDER.glob("*.c"))}


def compile_one(source: Path, folder: Path) -> bytes:
    target = folder / source.stem
    # By name from inside its folder, so that no path of this machine is in the command.
    tools.run(
        *("gcc", *_FLAGS, "-o", target, source.name, *_LIBRARIES.get(source.stem, ())),
        folder=source.parent,
    )
    return target.read_bytes()
