"""A cache that also knows what was just written, and takes no echo for news.

    async with instances.writing(key, queue.add) as write:
        write.answer = await client.patch(...)
    instances.get(key)                     # as the server answered, until the cache is as far

A cache lags behind the server. Who looks again before it has caught up would write the same once more, on what has
changed meanwhile: refused, and a write for nothing. And who is woken by the echo of its own write, of which it knows
already, looks for nothing; `is_news` tells the two apart. The echo may be faster than the answer: what arrives while a
write is under way is judged when it is over.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kubevirt.kube.cache.resource_version import is_older
from kubevirt.kube.cache.store import Cacheable, Change
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key

T = TypeVar("T", bound=Cacheable)


@dataclass(slots=True)
class Write(Generic[T]):
    answer: T | None = None
    """What the server answered; None if it did not, or if the object is gone."""
    heard: list[str | None] = field(default_factory=list)
    """Versions that appeared meanwhile; None for the end of the object, after which nobody need look."""


class Fresh(Generic[T]):
    def __init__(self, informer: Informer[T]) -> None:
        self.informer = informer
        self._written: dict[Key, T] = {}
        self._under_way: dict[Key, Write[T]] = {}

    def get(self, key: Key) -> T | None:
        cached = self.informer.get(key)
        return cached if cached is None else self._newest(key, cached)

    def owned_by(self, uid: str) -> list[T]:
        return [self._newest(Key.of(each), each) for each in self.informer.owned_by(uid)]

    @asynccontextmanager
    async def writing(self, key: Key, again: Callable[[Key], None]) -> AsyncIterator[Write[T]]:
        """Around one write. `again` is called if more happened meanwhile than that."""
        write: Write[T] = Write()
        self._under_way[key] = write
        try:
            yield write
        finally:
            del self._under_way[key]
            if write.answer is not None:
                self._remember(key, write.answer)
            own = write.answer.metadata.resource_version if write.answer else None
            if any(version not in {None, own} for version in write.heard):
                again(key)

    def is_news(self, change: Change[T]) -> bool:
        """Whether whoever writes through here has to look at it. To be asked once for each change."""
        key = change.key
        version = change.new.metadata.resource_version if change.new else None
        if key in self._under_way:
            self._under_way[key].heard.append(version)
            return False
        mine = self._written.get(key)
        if mine is None:
            return True
        if version is None or not is_older(version, mine.metadata.resource_version):
            del self._written[key]
        return version != mine.metadata.resource_version

    def _remember(self, key: Key, answer: T) -> None:
        cached = self.informer.get(key)
        if cached is not None and _is_behind(cached, answer):
            self._written[key] = answer

    def _newest(self, key: Key, cached: T) -> T:
        mine = self._written.get(key)
        return mine if mine is not None and _is_behind(cached, mine) else cached


def _is_behind(cached: Cacheable, mine: Cacheable) -> bool:
    one, other = cached.metadata, mine.metadata
    return one.uid == other.uid and is_older(one.resource_version, other.resource_version)
