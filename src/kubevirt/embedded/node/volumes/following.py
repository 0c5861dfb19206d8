"""ConfigMaps and Secrets that volumes are made of: each is followed once, however many pods use it.

A node may read only what its pods name, one object at a time. It watches each of them, as a kubelet does:
an object that does not change costs one request in a quarter of an hour, and one that changes is in its
volumes at once. To ask again every minute would cost more, and bring news later.

A watch holds a connection, though, and pods may name as many objects as they like. Beyond a number that nobody
needs, the others are asked for from time to time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import msgspec

from kubevirt.api.core.namespace import ConfigMap, Secret
from kubevirt.api.resource import Resource
from kubevirt.api.scheme import CONFIG_MAPS, SECRETS
from kubevirt.base.clock import Clock
from kubevirt.embedded.node.volumes.asked import Asked
from kubevirt.embedded.node.volumes.contents import NotThere
from kubevirt.embedded.node.volumes.things import Thing
from kubevirt.kube.cache.reflector import ReflectorSettings
from kubevirt.kube.client import Client
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key

_QUIET: Final = ReflectorSettings(watch_s=600.0, silence_limit_s=1800.0)
"""The server is on this machine: what breaks a connection to it is noticed at once."""
_FIRST_S: Final = 5.0
"""How long a pod waits for the first answer before it says what it waits for."""

MOST_WATCHED: Final = 64

T = TypeVar("T", ConfigMap, Secret)

Follower = Informer[ConfigMap] | Informer[Secret] | Asked[ConfigMap] | Asked[Secret]
OnNews = Callable[[str], None]


class _Followed(msgspec.Struct, kw_only=True):
    informer: Follower
    task: asyncio.Task[None]
    users: set[str]


class Following:
    def __init__(
        self, client: Client, clock: Clock, on_news: OnNews, *, most_watched: int = MOST_WATCHED
    ) -> None:
        """`on_news` is called with the uid of each pod that uses an object which came, changed or went."""
        self._client = client
        self._most_watched = most_watched
        self._clock = clock
        self._on_news = on_news
        self._followed: dict[Thing, _Followed] = {}
        self._tasks: asyncio.TaskGroup | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                for each in self._followed.values():
                    each.task.cancel()
                self._followed.clear()

    def use(self, uid: str, things: Collection[Thing]) -> None:
        """From now on the pod uses these and no others."""
        for thing in things:
            self._follow(thing).users.add(uid)
        for thing in [each for each in self._followed if each not in things]:
            self._leave(thing, uid)

    def forget(self, uid: str) -> None:
        for thing in list(self._followed):
            self._leave(thing, uid)

    def config_maps(self, namespace: str) -> Mapping[str, ConfigMap]:
        found = (self._now(each) for each in self._followed if each.namespace == namespace)
        return {each.metadata.name: each for each in found if isinstance(each, ConfigMap)}

    def secrets(self, namespace: str) -> Mapping[str, Secret]:
        found = (self._now(each) for each in self._followed if each.namespace == namespace)
        return {each.metadata.name: each for each in found if isinstance(each, Secret)}

    @property
    def count(self) -> int:
        return len(self._followed)

    def _now(self, thing: Thing) -> ConfigMap | Secret | None:
        return self._followed[thing].informer.get(Key(thing.namespace, thing.name))

    def _follow(self, thing: Thing) -> _Followed:
        found = self._followed.get(thing)
        if found is not None:
            return found
        if self._tasks is None:
            raise RuntimeError("nothing is followed outside of `running`")
        informer = self._informer(thing)
        task = self._tasks.create_task(
            informer.run(), name=f"follow {thing.namespace}/{thing.name}"
        )
        made = _Followed(informer=informer, task=task, users=set())
        self._followed[thing] = made
        # Those who asked first wait for the first answer; the others hear what changes.
        informer.add_handler(lambda _: self._tell(made))
        return made

    def _informer(self, thing: Thing) -> Follower:
        return self._of(SECRETS, thing) if thing.is_secret else self._of(CONFIG_MAPS, thing)

    def _of(self, resource: Resource[T], thing: Thing) -> Informer[T] | Asked[T]:
        watched = sum(isinstance(each.informer, Informer) for each in self._followed.values())
        if watched >= self._most_watched:
            key = Key(thing.namespace, thing.name)
            return Asked(self._client, resource, key, self._clock)
        return Informer(
            self._client,
            resource,
            clock=self._clock,
            namespace=thing.namespace,
            field_selector=f"metadata.name={thing.name}",
            settings=_QUIET,
        )

    def _tell(self, followed: _Followed) -> None:
        if followed.informer.is_synced:
            for uid in list(followed.users):
                self._on_news(uid)

    async def known(self, things: Collection[Thing]) -> None:
        """When it is known what they are, or that they are not there."""
        for thing in things:
            await self._first(thing)

    async def _first(self, thing: Thing) -> None:
        informer = self._followed[thing].informer
        if informer.is_synced:
            return
        try:
            async with self._clock.timeout(_FIRST_S):
                await informer.wait_synced()
        except TimeoutError:
            why = informer.last_error or "the server does not answer"
            kind = "secret" if thing.is_secret else "configmap"
            raise NotThere(f'{kind} "{thing.name}" cannot be read: {why}') from None

    def _leave(self, thing: Thing, uid: str) -> None:
        followed = self._followed[thing]
        followed.users.discard(uid)
        if not followed.users:
            followed.task.cancel()
            del self._followed[thing]
