"""Clients of a server that dies under them: what they were told, and whether it is still so.

A `Writer` has objects of its own and knows what each must be: what was acknowledged last, or, where the
server died before it could answer, one of two things. A `Watcher` follows all of them and must end up
with what there is, by events whose versions only grow.
"""

import asyncio
import random
from typing import Any

import aiohttp
import msgspec

PATH = "/api/v1/namespaces/default/configmaps"
MERGE = {"Content-Type": "application/merge-patch+json"}
NAMES_OF_A_WRITER = 5

Value = str | None
"""What an object holds; None if there is none."""


class Wrong(AssertionError):  # noqa: N818  # it is what the server is
    """The server did what it must not."""


class World:
    """What clients of one server share."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = url + PATH
        self.up = asyncio.Event()
        """Set while the server is there for writers."""
        self.newest = 0
        """The highest version that anybody was ever told."""
        self._given: dict[int, str] = {}

    def hear(self, version: int, of: str) -> None:
        """Each write has a version of its own."""
        if self._given.setdefault(version, of) != of:
            raise Wrong(f"version {version} was given to {self._given[version]} and to {of}")
        self.newest = max(self.newest, version)

    async def all(self) -> tuple[int, dict[str, tuple[int, str]]]:
        """The version of a list, and the versions and values of the objects in it."""
        newest = self.newest
        async with self.session.get(self.url) as answer:
            body = await answer.json()
            if answer.status != 200:
                raise Wrong(f"a list was refused: {body}")
        found = {each["metadata"]["name"]: seen(each) for each in body["items"]}
        version = int(body["metadata"]["resourceVersion"])
        if version < newest:
            raise Wrong(f"the newest version is {version}, and {newest} was told before")
        return version, found


def seen(object_: dict[str, Any]) -> tuple[int, str]:
    return int(object_["metadata"]["resourceVersion"]), object_["data"]["value"]


class Writer:
    def __init__(self, world: World, name: str, chance: random.Random) -> None:
        self._world = world
        self._chance = chance
        self._values: dict[str, set[Value]] = {
            f"{name}-{number}": {None} for number in range(NAMES_OF_A_WRITER)
        }
        self._versions: dict[str, int] = {}
        self.writes = 0
        self.doubts = 0

    async def run(self) -> None:
        while True:
            await self._world.up.wait()
            name = self._chance.choice(list(self._values))
            (before,) = self._values[name]
            after = None if before and self._chance.random() < 0.3 else self._new_value()
            # Until an answer comes, it may be either.
            self._values[name] = {before, after}
            try:
                version = await self._write(name, before, after)
            except (aiohttp.ClientError, OSError):
                self.doubts += 1
                await self._learn(name)
                continue
            self._values[name] = {after}
            self._versions[name] = version
            self.writes += 1

    def _new_value(self) -> str:
        return self._chance.randbytes(self._chance.choice((10, 500, 5000))).hex()

    async def _write(self, name: str, before: Value, after: Value) -> int:
        world = self._world
        url = f"{world.url}/{name}"
        body = {"metadata": {"name": name}, "data": {"value": after}}
        if before is None:
            asked = world.session.post(world.url, json=body)
        elif after is None:
            asked = world.session.delete(url)
        elif self._chance.random() < 0.5:
            asked = world.session.put(url, json=body)
        else:
            asked = world.session.patch(url, json=body, headers=MERGE)
        async with asked as answer:
            found = await answer.json()
            if answer.status not in (200, 201):
                raise Wrong(f"a write of {name} was refused: {found}")
        if after is None:
            return self._versions.get(name, 0)
        version, _ = seen(found)
        if version <= self._versions.get(name, 0):
            raise Wrong(f"{name} went from version {self._versions[name]} to {version}")
        world.hear(version, name)
        return version

    async def _learn(self, name: str) -> None:
        """What became of a write that nobody answered."""
        while True:
            await self._world.up.wait()
            try:
                async with self._world.session.get(f"{self._world.url}/{name}") as answer:
                    body = await answer.json()
            except (aiohttp.ClientError, OSError):
                await asyncio.sleep(0)
                continue
            if answer.status not in (200, 404):
                raise Wrong(f"{name} was not shown: {body}")
            self._check(name, seen(body) if answer.status == 200 else None)
            return

    def check_all(self, found: dict[str, tuple[int, str]]) -> None:
        for name in self._values:
            self._check(name, found.get(name))

    def _check(self, name: str, found: tuple[int, str] | None) -> None:
        version, value = found or (self._versions.get(name, 0), None)
        if value not in self._values[name]:
            raise Wrong(f"{name} is not what was acknowledged, nor what was asked for last")
        if version < self._versions.get(name, 0):
            raise Wrong(f"{name} is back at version {version}, from {self._versions[name]}")
        self._values[name] = {value}
        self._versions[name] = version


class Watcher:
    def __init__(self, world: World, rests_s: float = 0.0) -> None:
        """`rests_s` is how long it is away when its watch was broken."""
        self._world = world
        self._rests_s = rests_s
        self.objects: dict[str, tuple[int, str]] = {}
        self.version = 0
        self.resumed = 0
        self.expired = 0

    async def run(self) -> None:
        while True:
            await self._world.up.wait()
            try:
                if not self.version:
                    self.version, self.objects = await self._world.all()
                await self._follow()
            except (aiohttp.ClientError, OSError):
                self.resumed += 1
                await asyncio.sleep(self._rests_s)

    async def _follow(self) -> None:
        wanted = {"watch": "1", "resourceVersion": str(self.version), "allowWatchBookmarks": "1"}
        async with self._world.session.get(self._world.url, params=wanted) as answer:
            async for line in answer.content:
                event = msgspec.json.decode(line)
                if event["type"] == "ERROR":
                    if event["object"]["code"] != 410:
                        raise Wrong(f"a watch ended with {event['object']}")
                    self.expired += 1
                    self.version = 0
                    return
                self._take(event["type"], event["object"])

    def _take(self, type_: str, object_: dict[str, Any]) -> None:
        version = int(object_["metadata"]["resourceVersion"])
        if version <= self.version and type_ != "BOOKMARK":
            raise Wrong(f"a watch went from version {self.version} back to {version}")
        self.version = version
        self._world.newest = max(self._world.newest, version)
        if type_ == "BOOKMARK":
            return
        name = object_["metadata"]["name"]
        if type_ == "DELETED":
            self.objects.pop(name, None)
        else:
            self.objects[name] = seen(object_)
