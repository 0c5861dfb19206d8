"""An object that is asked for from time to time: like an informer of one object, without a connection of its
own. News come late.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.tasks import Latch
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.key import Key

T = TypeVar("T", ConfigMap, Secret)

EVERY_S: Final = 60.0
_WAITING_S: Final = 5.0
"""Between two questions for one that is not there: a pod may wait for it."""


class Asked(Generic[T]):
    def __init__(self, client: Client, resource: Resource[T], key: Key, clock: Clock) -> None:
        self.last_error: Exception | None = None
        self._client = client
        self._resource: Resource[T] = resource
        self._key = key
        self._clock = clock
        self._found: T | None = None
        self._synced = Latch()
        self._on_change: Callable[[object], None] = lambda _: None

    @property
    def is_synced(self) -> bool:
        return self._synced.is_open

    async def wait_synced(self) -> None:
        await self._synced.wait()

    def get(self, key: Key) -> T | None:
        return self._found if key == self._key else None

    def add_handler(self, handler: Callable[[object], None]) -> None:
        self._on_change = handler

    async def run(self) -> None:
        while True:
            try:
                await self._look()
            except KubevirtError as error:
                self.last_error = error
            await self._clock.sleep(_WAITING_S if self._found is None else EVERY_S)

    async def _look(self) -> None:
        try:
            found = await self._client.get(self._resource, self._key.name, self._key.namespace)
        except NotFound:
            found = None
        self.last_error = None
        before, self._found = self._found, found
        if self.is_synced and _version(before) != _version(found):
            self._on_change(found)
        self._synced.open()


def _version(thing: ConfigMap | Secret | None) -> str | None:
    return thing.metadata.resource_version if thing is not None else None
