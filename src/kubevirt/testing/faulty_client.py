"""A client of a `FaultyServer` whose line fails on command: writes for tests under virtual time.

    client = FaultyClient(server, clock)
    client.cut_off()             # everything is refused until `restore`
    client.hang()                # nothing is answered until `restore`
    client.lose_answers(1)       # the server does what is asked, and the answer is lost

Several clients of one server have lines of their own: one may be cut off while the others are not.
"""

import asyncio
from typing import TypeVar

import msgspec

from kubevirt.api.meta import Status
from kubevirt.api.resource import Resource
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Unreachable
from kubevirt.kube.errors import Conflict
from kubevirt.kube.http.encoding import data_of
from kubevirt.kube.key import Key
from kubevirt.kube.patches import MergePatch
from kubevirt.testing.faulty_server import FaultyServer
from kubevirt.testing.history import Data

T = TypeVar("T")


class FaultyClient:
    def __init__(self, server: FaultyServer, clock: Clock) -> None:
        self.latency_s = 0.0
        """How long a request is under way."""

        self.requests: list[str] = []
        """What was asked, in order: `create events`, `patch leases virt-controller`."""

        self._server = server
        self._clock = clock
        self._is_cut_off = False
        self._hangs = False
        self._failures: list[Exception] = []
        self._lost_answers = 0

    # What can go wrong

    def cut_off(self) -> None:
        self._is_cut_off = True

    def hang(self) -> None:
        self._hangs = True

    def restore(self) -> None:
        """The line works again; requests that hang stay lost."""
        self._is_cut_off = self._hangs = False

    def fail_next(self, *errors: Exception) -> None:
        """The next requests fail with these, one each, and do nothing."""
        self._failures += errors

    def lose_answers(self, count: int) -> None:
        """The next requests are carried out, but their answers do not arrive."""
        self._lost_answers = count

    # The client

    async def get(self, resource: Resource[T], name: str, namespace: str | None = None) -> T:
        await self._send(f"get {resource.plural} {name}")
        return self._answer(
            resource, self._server.history.get(resource, Key(namespace or "", name))
        )

    async def create(self, resource: Resource[T], obj: T, namespace: str | None = None) -> T:
        await self._send(f"create {resource.plural}")
        data = data_of(obj)
        if namespace:
            data["metadata"]["namespace"] = namespace
        return self._answer(resource, self._server.create(resource, data))

    async def patch(
        self, resource: Resource[T], name: str, patch: MergePatch, namespace: str | None = None
    ) -> T:
        await self._send(f"patch {resource.plural} {name}")
        key = Key(namespace or "", name)
        changes = data_of(patch.body)
        old = self._server.history.get(resource, key)
        _check_version(changes, old)
        return self._answer(resource, self._server.update(resource, key, changes))

    async def delete(
        self,
        resource: Resource[T],
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
    ) -> T | None:
        await self._send(f"delete {resource.plural} {name}")
        key = Key(namespace or "", name)
        found = self._server.history.get(resource, key)["metadata"]["uid"]
        if uid not in (None, found):
            raise _conflict(f"the UID in the precondition ({uid}) is not that of {name} ({found})")
        self._answer(resource, self._server.delete(resource, key))
        return None

    async def _send(self, request: str) -> None:
        self.requests.append(request)
        if self._hangs:
            await asyncio.Event().wait()
        await self._clock.sleep(self.latency_s)
        if self._is_cut_off:
            raise Unreachable("connection refused")
        if self._failures:
            raise self._failures.pop(0)

    def _answer(self, resource: Resource[T], data: Data) -> T:
        if self._lost_answers:
            self._lost_answers -= 1
            raise Unreachable("the connection was cut")
        return msgspec.convert(data, resource.type)


def _check_version(changes: Data, old: Data) -> None:
    wanted = changes.get("metadata", {}).get("resourceVersion")
    found = old["metadata"]["resourceVersion"]
    if wanted not in (None, found):
        raise _conflict(f"the object has been modified: {wanted} is not its version {found}")


def _conflict(message: str) -> Conflict:
    return Conflict(Status(status="Failure", code=409, reason="Conflict", message=message))
