"""Images that lie on this machine, by name: in a layout, in archives.

A name is compared in full. Some writers put only a tag into an archive; with many archives in a folder that
would make any of them answer for any image. An archive that holds one image without a name is known by where
it lies: `archives/example.com/tools/shell:2.tar` is example.com/tools/shell:2.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.host.oci.docker_archive import DockerArchive
from kubevirt.host.oci.errors import ContainerImageError
from kubevirt.host.oci.layout import OciArchive, OciFolder
from kubevirt.host.oci.reference import Reference
from kubevirt.host.oci.source import Source

_log = get_logger("embedded.runtime.images")
_SUFFIX: Final = ".tar"
_MOST_ARCHIVES: Final = 1000


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """An image here: where, in which state that was, and by which name to ask for it there."""

    path: Path
    state: tuple[int, int, int]
    is_docker: bool
    name: str

    def source(self) -> Source:
        if self.path.is_dir():
            return OciFolder(self.path)
        return DockerArchive(self.path) if self.is_docker else OciArchive(self.path)


class _Listed(msgspec.Struct, frozen=True, kw_only=True):
    state: tuple[int, int, int]
    is_docker: bool = False
    names: Sequence[tuple[str, str]] = ()
    """Each with its digest, as far as the archive tells."""
    problem: str = ""


class LocalImages:
    def __init__(self, layout: Path, archives: Sequence[Path]) -> None:
        """Each of the archives is a file, or a folder of them."""
        self._layout = layout
        self._archives = archives
        self._listed = dict[Path, _Listed]()

    @property
    def problems(self) -> list[str]:
        """Of what lies here and cannot be read."""
        return [each.problem for each in self._listed.values() if each.problem]

    def find(self, wanted: Reference) -> Found | None:
        """Blocks for as long as it takes to look at what is new since the last time."""
        listed = {path: self._look(path, known_as) for path, known_as in self._places()}
        self._listed = listed
        for path, each in listed.items():
            for name, digest in each.names:
                if _is_called(name, digest, wanted):
                    asked = _by_digest(wanted, digest) if digest else name
                    return Found(path=path, state=each.state, is_docker=each.is_docker, name=asked)
        return None

    def namesakes(self, wanted: Reference) -> list[str]:
        """Digests of what had its name when `find` last looked, whatever their tags."""
        return [
            digest
            for each in self._listed.values()
            for name, digest in each.names
            if digest and _has_same_name(name, wanted)
        ]

    def _places(self) -> Iterator[tuple[Path, str]]:
        """With the name that each would have by where it lies."""
        if (self._layout / "index.json").exists():
            yield self._layout, ""
        for place in self._archives:
            if place.is_file():
                yield place, ""
            elif place.is_dir():
                for path in islice(sorted(place.rglob(f"*{_SUFFIX}")), _MOST_ARCHIVES):
                    if path.is_file():
                        yield path, str(path.relative_to(place)).removesuffix(_SUFFIX)

    def _look(self, path: Path, known_as: str) -> _Listed:
        state = _state(path)
        before = self._listed.get(path)
        if before and before.state == state:
            return before
        try:
            return _list(path, state, known_as)
        except (KubevirtError, OSError) as error:
            _log.warning("an image cannot be read", path=str(path), cause=str(error))
            return _Listed(state=state, problem=str(error))


def _state(path: Path) -> tuple[int, int, int]:
    """Another one when the file, or the index of a layout, was written anew."""
    try:
        found = (path / "index.json" if path.is_dir() else path).stat()
    except FileNotFoundError:
        return (0, 0, 0)
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _list(path: Path, state: tuple[int, int, int], known_as: str) -> _Listed:
    if path.is_dir():
        return _Listed(state=state, names=OciFolder(path).names())
    try:
        names = OciArchive(path).names()
    except ContainerImageError as error:
        try:
            return _Listed(state=state, is_docker=True, names=DockerArchive(path).names())
        except ContainerImageError:
            raise error from None
    if len(names) == 1 and not names[0][0]:
        names = [(known_as, names[0][1])]
    return _Listed(state=state, names=names)


def _is_called(name: str, digest: str, wanted: Reference) -> bool:
    if wanted.digest:
        return wanted.digest == digest
    try:
        return Reference.parse(name) == wanted
    except ContainerImageError:
        return False


def _has_same_name(name: str, wanted: Reference) -> bool:
    try:
        found = Reference.parse(name)
    except ContainerImageError:
        return False
    return (found.registry, found.repository) == (wanted.registry, wanted.repository)


def _by_digest(wanted: Reference, digest: str) -> str:
    return f"{wanted.registry}/{wanted.repository}@{digest}"
