"""ISO 9660 images of small files: what cloud-init, Windows setup and config drives are read from.

    iso.write(plan.path, plan.label, plan.files)

A guest finds its files under their exact names: by Rock Ridge on Linux, by Joliet on Windows. Equal
contents give equal bytes, whoever builds them and whenever, so a disk that is made again after a
restart is the one that the guest already knows.

Names and contents come from users. They were checked when the volume was planned; this is the gate
before they become a file system, and it checks again, because a name that leaves its folder here
would do so inside a guest.

pycdlib takes some 6 MB and 25 ms, so it is imported by the first image that is built, or by `get_ready` for
those who know that there will be one and have nothing else to do.
"""

import io
import re
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kubevirt.base.errors import UserError
from kubevirt.base.files import Root

if TYPE_CHECKING:
    from pycdlib import PyCdlib

SIZE_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of all files together. Twice what a planned volume may hold."""
FILE_LIMIT: Final = 1000
DEPTH_LIMIT: Final = 7
"""Folders above a file: ISO 9660 has eight levels, and what lies deeper is moved elsewhere."""
JOLIET_LIMIT: Final = 64
"""Characters of a name in Joliet. A longer one is cut there, and whole in Rock Ridge."""
EPOCH: Final = 946_684_800.0
"""The time that every image was made at: 2000-01-01. Zero would mean that it is not known."""

TAIL: Final = 150 * 2048
"""Zeros behind the image, as genisoimage and xorriso write them: there are readers that look ahead, and
busybox takes a disk that is smaller than its look ahead for an empty one."""

_LABEL: Final = re.compile(r"[A-Za-z0-9_.+-]{1,32}")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,253}")
_FILE_MODE: Final = 0o100444
_FOLDER_MODE: Final = 0o040555


class IsoError(UserError):
    """Files that cannot become an image."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="InvalidIsoImage")


def build(label: str, files: Mapping[str, bytes]) -> bytes:
    """The whole image. `files` has contents by path, with forward slashes and no leading one."""
    _check(label, files)
    image = _new_image()
    image.new(interchange_level=3, vol_ident=label[:16], joliet=3, rock_ridge="1.09")
    try:
        # Joliet has room for half a label only, and the library asks for one that fits both.
        image.pvd.volume_identifier = label.encode().ljust(32)
        names = {"": ("", "")}
        """The folders made so far: their path in plain ISO 9660 and in Joliet."""
        for folder, entries in sorted(_folders(files).items()):
            _add_entries(image, folder, sorted(entries), names, files)
        out = io.BytesIO()
        image.write_fp(out)
    finally:
        image.close()
    return out.getvalue() + bytes(TAIL)


def write(
    path: str,
    label: str,
    files: Mapping[str, bytes],
    *,
    mode: int = 0o600,
    owner: tuple[int, int] | None = None,
) -> None:
    """Builds an image and puts it in place at once; the folders above it are made if missing."""
    data = build(label, files)
    target = Path(path)
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    with Root.open(target.parent) as folder:
        # It is made again from the manifest after a power loss, so nothing waits for the disk.
        folder.write(target.name, data, mode=mode, owner=owner, durable=False)


def _check(label: str, files: Mapping[str, bytes]) -> None:
    if not _LABEL.fullmatch(label):
        raise IsoError(
            f"{_shown(label)} cannot label a disk; a label has at most 32 letters, digits, dots, "
            f"dashes, plus signs and underscores"
        )
    if len(files) > FILE_LIMIT:
        raise IsoError(f"disk {label} would have {len(files)} files; {FILE_LIMIT} are the most")
    size = sum(map(len, files.values()))
    if size > SIZE_LIMIT:
        raise IsoError(f"disk {label} would hold {size} bytes; {SIZE_LIMIT} are the most")
    for path in files:
        _check_path(label, path, files)


def _check_path(label: str, path: str, files: Mapping[str, bytes]) -> None:
    parts = path.split("/")
    if any(not _NAME.fullmatch(part) or part in {".", ".."} for part in parts):
        raise IsoError(
            f"disk {label} cannot have a file {_shown(path)}; use letters, digits, dashes, dots "
            f"and underscores, and slashes between folders"
        )
    if len(parts) > DEPTH_LIMIT + 1:
        raise IsoError(
            f"disk {label} has the file {_shown(path)} below {len(parts) - 1} folders; "
            f"{DEPTH_LIMIT} are the most"
        )
    above = next((each for each in _above(path) if each in files), None)
    if above is not None:
        raise IsoError(
            f"disk {label} has {_shown(above)} as a file, so it cannot be the folder of "
            f"{_shown(path)}; rename one of them"
        )


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _above(path: str) -> Iterable[str]:
    """The folders of a path, outermost first."""
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _folders(files: Mapping[str, bytes]) -> dict[str, set[str]]:
    """What each folder holds, by path; the root's path is empty."""
    folders: dict[str, set[str]] = {"": set()}
    for path in files:
        for each in (*_above(path), path):
            parent, _, name = each.rpartition("/")
            folders.setdefault(parent, set()).add(name)
    return folders


def _add_entries(
    image: "PyCdlib",
    folder: str,
    entries: list[str],
    names: dict[str, tuple[str, str]],
    files: Mapping[str, bytes],
) -> None:
    """Adds what a folder holds. Folders come in sorted order, so the one above is already there."""
    plain_above, joliet_above = names[folder]
    plain_names, joliet_names = _Names(_plain_name), _Names(_joliet_name)
    for name in entries:
        path = f"{folder}/{name}" if folder else name
        plain = f"{plain_above}/{plain_names.take(name)}"
        joliet = f"{joliet_above}/{joliet_names.take(name)}"
        content = files.get(path)
        if content is None:
            names[path] = (plain, joliet)
            image.add_directory(plain, rr_name=name, joliet_path=joliet, file_mode=_FOLDER_MODE)
            continue
        image.add_fp(
            io.BytesIO(content),
            len(content),
            iso_path=f"{plain}.;1" if "." not in plain.rpartition("/")[2] else f"{plain};1",
            rr_name=name,
            joliet_path=joliet,
            file_mode=_FILE_MODE,
        )


class _Names:
    """The names of one folder as one of the older tables can hold them, shortened and numbered.

    Upper and lower case count as one, as they do for the systems that read those tables.
    """

    def __init__(self, shorten: Callable[[str, int], str]) -> None:
        self._shorten = shorten
        self._taken = set[str]()
        self._numbers = dict[str, int]()

    def take(self, name: str) -> str:
        short = self._shorten(name, 0).upper()
        number = self._numbers.get(short, 0)
        while (found := self._shorten(name, number)).upper() in self._taken:
            number += 1
        self._numbers[short] = number + 1
        self._taken.add(found.upper())
        return found


def _plain_name(name: str, number: int) -> str:
    """Eight characters and three: what every reader of forty years understands."""
    stem, dot, ending = name.rpartition(".")
    if not dot or not stem:
        stem, ending = name, ""
    stem, ending = (re.sub(r"[^A-Z0-9_]", "_", part.upper()) for part in (stem, ending))
    suffix = f"{number:03}" if number else ""
    return stem[: 8 - len(suffix)] + suffix + (f".{ending[:3]}" if ending else "")


def _joliet_name(name: str, number: int) -> str:
    suffix = f"~{number}" if number else ""
    return name[: JOLIET_LIMIT - len(suffix)] + suffix


class _StandingTime:
    """Stands for the module `time` inside pycdlib: it is always the same moment, in UTC."""

    strftime = staticmethod(time.strftime)
    strptime = staticmethod(time.strptime)
    struct_time = time.struct_time
    gmtime = staticmethod(time.gmtime)
    localtime = staticmethod(time.gmtime)

    @staticmethod
    def time() -> float:
        return EPOCH


def _new_image() -> "PyCdlib":
    """The library asks the clock while it works and takes no time from us, so it gets a clock.

    Nobody else uses the library, and replacing the name again changes nothing.
    """
    from pycdlib import PyCdlib, dates, headervd, pycdlib, utils  # noqa: PLC0415  # see above

    for module in (dates, headervd, pycdlib, utils):
        vars(module)["time"] = _StandingTime
    return PyCdlib()


def get_ready() -> None:
    """Does ahead what the first image would have to wait for."""
    _new_image()
