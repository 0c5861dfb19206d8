"""Names from a manifest on their way into paths and identifiers: one gate, so that none escapes.

Admission refuses such names too; this is where it counts, since the launcher also runs without it.
"""

import re
from typing import Final

from kubevirt.virt.errors import UnsafeNameError

_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_ALIAS: Final = re.compile(r"[A-Za-z0-9_-]{1,250}")


def file_name(thing: str, name: str) -> str:
    """The name, if it can be one component of a path: no slash, no dots that climb."""
    if not _FILE_NAME.fullmatch(name):
        raise UnsafeNameError(thing, name)
    return name


def alias_name(thing: str, name: str) -> str:
    """The name, if libvirt takes it as a device's alias; it would silently drop any other."""
    if not _ALIAS.fullmatch(name):
        raise UnsafeNameError(thing, name)
    return name
