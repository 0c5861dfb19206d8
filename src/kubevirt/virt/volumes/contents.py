"""ISO images made of ConfigMaps, Secrets and their like: labels, limits, what must be inside."""

import re
from collections.abc import Mapping
from typing import Final

from kubevirt.virt.errors import SpecError, shown

SIZE_LIMIT: Final = 4 * 1024 * 1024
"""Bytes in one volume; a ConfigMap or Secret holds at most one MiB."""
FILE_LIMIT: Final = 1000
DEFAULT_LABEL: Final = "cfgdata"
SYSPREP_LABEL: Final = "unattendCD"
ANSWER_FILES: Final = ("autounattend.xml", "unattend.xml")

_LABEL: Final = re.compile(r"[A-Za-z0-9_.+-]{1,32}")
_FILE: Final = re.compile(r"[A-Za-z0-9._-]{1,253}")


def checked_files(volume: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The files in a fixed order, if a guest can have them."""
    if len(files) > FILE_LIMIT:
        raise SpecError(f"volume {shown(volume)} has {len(files)} files; {FILE_LIMIT} are the most")
    size = sum(map(len, files.values()))
    if size > SIZE_LIMIT:
        raise SpecError(f"volume {shown(volume)} holds {size} bytes; {SIZE_LIMIT} are the most")
    for name in files:
        if not _FILE.fullmatch(name) or name in {".", ".."}:
            raise SpecError(
                f"volume {shown(volume)} has a key {shown(name)} that cannot name a file; "
                f"use letters, digits, dashes, dots and underscores"
            )
    return {name: files[name] for name in sorted(files)}


def label_of(volume: str, label: str | None) -> str:
    if not label:
        return DEFAULT_LABEL
    if not _LABEL.fullmatch(label):
        raise SpecError(
            f"volume {shown(volume)} has volumeLabel {shown(label)}; a label has at most 32 "
            f"letters, digits, dots, dashes, plus signs and underscores"
        )
    return label


def answer_files(volume: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Windows looks for one of two names, in any case."""
    if not any(name.lower() in ANSWER_FILES for name in files):
        raise SpecError(
            f"volume {shown(volume)}: Sysprep drive should contain {' or '.join(ANSWER_FILES)} "
            f"but neither were found."
        )
    return checked_files(volume, files)
