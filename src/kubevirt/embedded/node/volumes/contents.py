"""The contents of a volume before it is one: files by their paths, and what they are made from."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.pod_volumes import KeyToPath
from kubevirt.base.errors import Retry
from kubevirt.embedded.node.downward import Places

DEFAULT_MODE: Final = 0o644


class File(msgspec.Struct, frozen=True, kw_only=True):
    data: bytes
    mode: int = DEFAULT_MODE


Files = dict[str, File]


class NotThere(Retry):
    """Something that a volume is made of; it may come, and the pod waits for it."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """What contents are made from; objects of the pod's namespace, by name."""

    pod: Pod
    config_maps: Mapping[str, ConfigMap] = {}
    secrets: Mapping[str, Secret] = {}
    places: Places = Places()
    tokens: Mapping[tuple[str, str], str] = {}
    """By volume and path; see `token.py`."""


def picked(
    entries: Mapping[str, bytes],
    items: Iterable[KeyToPath],
    mode: int,
    missing: Callable[[str], str],
    *,
    is_optional: bool,
) -> Files:
    """All entries under their keys, or those of `items` where they are wanted."""
    items = tuple(items)
    if not items:
        return {key: File(data=data, mode=mode) for key, data in entries.items()}
    found: Files = {}
    for each in items:
        if each.key in entries:
            data = entries[each.key]
            found[each.path] = File(data=data, mode=mode if each.mode is None else each.mode)
        elif not is_optional:
            raise NotThere(missing(each.key))
    return found
