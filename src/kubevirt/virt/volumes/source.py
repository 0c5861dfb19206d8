"""The one source of a volume."""

from typing import Final

import msgspec

from kubevirt.api.struct import Struct
from kubevirt.api.volumes import Volume
from kubevirt.virt.errors import SpecError, shown

_SOURCES: Final = tuple(
    (field.name, field.encode_name)
    for field in msgspec.structs.fields(Volume)
    if field.name != "name"
)


def source_of(volume: Volume) -> Struct:
    """The source, whatever its type; `match` on it. A volume has exactly one."""
    found: list[Struct] = [
        source for name, _ in _SOURCES if (source := getattr(volume, name)) is not None
    ]
    if len(found) != 1:
        raise SpecError(f"volume {shown(volume.name)} must have exactly one source type set")
    return found[0]


def kind_of(volume: Volume) -> str:
    """The source's name in a manifest, for sentences."""
    return next((name for field, name in _SOURCES if getattr(volume, field) is not None), "nothing")
