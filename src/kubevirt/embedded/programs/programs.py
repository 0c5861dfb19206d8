"""All programs of KubeVirt in a home: virt-api first, then the others, each kept alive for itself.

How one is run is not decided here: as a task of the home's process (`together.py`) or as a process of its own
(`separate.py`).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final, Protocol

from kubevirt.base.log import get_logger
from kubevirt.base.tasks import background
from kubevirt.embedded.programs.kept import Kept, Work
from kubevirt.embedded.programs.place import Place
from kubevirt.embedded.programs.standing import Standing
from kubevirt.kube.client import Client

READY_S: Final = 30.0
"""For virt-api: without it no machine can be made. The others may come later."""

log = get_logger(__name__)


class Ways(Protocol):
    """How each of them is run: until cancelled, or it fails."""

    async def run_api(self, kept: Kept) -> None: ...
    async def run_controller(self, kept: Kept) -> None: ...
    async def run_handler(self, node: str, kept: Kept) -> None: ...


class Programs:
    def __init__(self, place: Place, client: Client, ways: Ways) -> None:
        """`client` is for the status of the KubeVirt object."""
        self._place = place
        self._news = asyncio.Event()
        self._api = self._kept("virt-api", ways.run_api)
        self._controller = self._kept("virt-controller", self._after_api(ways.run_controller))
        self._handlers = tuple(
            self._kept(f"virt-handler of {node}", self._after_api(partial(ways.run_handler, node)))
            for node in place.nodes
        )
        self.all: Sequence[Kept] = (self._api, self._controller, *self._handlers)
        self._standing = Standing(client, self.all, self._news, place.clock)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Entered when virt-api answers, or would not within its time; the status says so then."""
        work = [each.run() for each in self.all]
        async with background(*work, self._standing.run()):
            try:
                async with self._place.clock.timeout(READY_S):
                    await self._api.ready.wait()
            except TimeoutError:
                log.warning("virt-api is not at work yet", reason=self._api.trouble)
            yield

    async def stand_still(self) -> None:
        """Nothing is started any more: what ends from now on ends because the home does."""
        await self._controller.end()

    async def leave_nodes(self) -> None:
        """Each virt-handler marks its node as one without. That takes a network and virt-api, so both go after it."""
        async with asyncio.TaskGroup() as tasks:
            for each in self._handlers:
                tasks.create_task(each.end())

    def _kept(self, name: str, work: Work) -> Kept:
        return Kept(name, work, self._place.clock, self._news.set)

    def _after_api(self, work: Work) -> Work:
        """When virt-api is at work, for whom a start waits, or has had its time."""

        async def later(kept: Kept) -> None:
            with suppress(TimeoutError):
                async with self._place.clock.timeout(READY_S):
                    await self._api.ready.wait()
            await work(kept)

        return later
