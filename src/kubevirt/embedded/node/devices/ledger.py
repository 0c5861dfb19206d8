"""Who has which devices: remembered, since a container keeps its devices for as long as its pod lives, over
restarts of the container, of the plugin and of this process.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from kubevirt.base.files import Root
from kubevirt.base.log import get_logger
from kubevirt.rpc.devices import Answer

log = get_logger(__name__)

FILE: Final = "devices.json"
_LIMIT: Final = 16 << 20


class Given(msgspec.Struct, frozen=True):
    """Devices of one resource that a container has, and what the plugin said of them."""

    ids: tuple[str, ...]
    answer: Answer = Answer()


class _Kept(msgspec.Struct):
    pods: dict[str, dict[str, dict[str, Given]]] = {}
    """By pod, container and resource."""
    resources: set[str] = set()
    """Those that somebody has registered."""


class Ledger:
    def __init__(self, root: Root) -> None:
        """`root` is the folder where it is kept."""
        self._root = root
        self._kept = _Kept()
        if not root.exists(FILE):
            return
        try:
            self._kept = msgspec.json.decode(root.read(FILE, limit=_LIMIT), type=_Kept)
        except msgspec.DecodeError as error:
            # It is put in place at once, so somebody has changed it. Pods keep the devices they have.
            log.warning("who has which devices is not known any more", file=FILE, error=error)

    @property
    def resources(self) -> frozenset[str]:
        return frozenset(self._kept.resources)

    def note_resource(self, name: str) -> None:
        if name not in self._kept.resources:
            self._kept.resources.add(name)
            self._write()

    def forget_resource(self, name: str) -> None:
        if name in self._kept.resources:
            self._kept.resources.discard(name)
            self._write()

    def of(self, uid: str, container: str, resource: str) -> Given | None:
        return self._kept.pods.get(uid, {}).get(container, {}).get(resource)

    def give(self, uid: str, container: str, resource: str, given: Given) -> None:
        self._kept.pods.setdefault(uid, {}).setdefault(container, {})[resource] = given
        self._write()

    def free(self, uid: str) -> None:
        if self._kept.pods.pop(uid, None):
            self._write()

    def held(self, resource: str) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Pod, container and devices of everybody who has some."""
        for uid, containers in self._kept.pods.items():
            for container, resources in containers.items():
                if given := resources.get(resource):
                    yield uid, container, given.ids

    def _write(self) -> None:
        self._root.write(FILE, msgspec.json.encode(self._kept))
