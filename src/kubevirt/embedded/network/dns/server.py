"""dnsmasq with the names of the cluster: always one that answers, whatever changes.

dnsmasq reads most of what it is told only when it starts. So a change is another dnsmasq, on another port of
the gateway's address, to which the rules of the DNS Service then lead; the one before goes on for a moment,
for those who have asked it. No question is lost on the way.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import CommandFailed, KubevirtError, Retry
from kubevirt.base.tasks import background, first_of
from kubevirt.embedded.network.dns import config
from kubevirt.embedded.network.dns.records import Records
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.host.net.dnsmasq_life import Served, Service
from kubevirt.host.net.netns import Namespace

DRAIN_S: Final = 5.0
"""As long as libc waits for an answer."""
TRIES: Final = 5


class Instance:
    """One dnsmasq and what it was told."""

    def __init__(self, service: Service, port: int, records: Records) -> None:
        self.service = service
        self.port = port
        self.records = records
        self.is_retired = asyncio.Event()
        self.has_failed = asyncio.Event()
        self.failure: KubevirtError | None = None


class NameServer:
    def __init__(self, settings: NetworkSettings, machine: Namespace, clock: Clock) -> None:
        self._settings = settings
        self._machine = machine
        self._clock = clock
        self._group: asyncio.TaskGroup | None = None
        self._lives: dict[Instance, asyncio.Task[None]] = {}
        self._current: Instance | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """What was started ends with the body."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            try:
                yield
            finally:
                self._group = self._current = None
                for each in self._lives.values():
                    each.cancel()

    @property
    def port(self) -> int | None:
        """Where the newest one answers, on the gateway's address."""
        return self._current.port if self._current else None

    @property
    def ports(self) -> tuple[int, ...]:
        """Of all that answer: the newest, and those that are on their way out."""
        if self._current is None:
            return ()
        return (
            self._current.port,
            *(each.port for each in self._lives if each is not self._current),
        )

    @property
    def pid(self) -> int | None:
        return self._current.service.pid if self._current else None

    @property
    def trouble(self) -> str:
        """Why nobody answers now, though somebody did; empty if all is well."""
        said = self._current.service.trouble if self._current else ""
        return f"the names of the cluster are not served: {said}" if said else ""

    async def publish(self, records: Records) -> Instance | None:
        """Returns when one answers with these. The one before, if it is another, goes on until it is
        retired: by whoever knows that nobody is led to it any more.
        """
        before = self._current
        if before is not None and before.records == records:
            return None
        for attempt in range(TRIES):
            try:
                self._current = await self._started(records)
            except CommandFailed:  # somebody took the port in between
                if attempt + 1 == TRIES:
                    raise
            else:
                return before
        return None

    def retire(self, instance: Instance) -> None:
        instance.is_retired.set()

    async def _started(self, records: Records) -> Instance:
        assert self._group is not None, "it is not running"  # noqa: S101  # a mistake of ours
        settings = self._settings
        port = await self._machine.run(lambda: _free_port(settings.gateway))
        listening = config.Listening(
            address=settings.gateway,
            port=port,
            domain=settings.domain,
            reverse=(settings.service_range, settings.pod_range),
            resolver_file=settings.resolver_files[0],
        )
        served = Served(what="names of the cluster", config=config.text(listening, records))
        service = Service(self._machine, served, clock=self._clock)
        instance = Instance(service, port, records)
        life = self._group.create_task(self._live(instance))
        self._lives[instance] = life
        life.add_done_callback(lambda _: self._lives.pop(instance, None))
        try:
            await first_of(service.answers(), _true(instance.has_failed))
        except CommandFailed:
            life.cancel()
            raise
        if instance.failure is not None:
            raise instance.failure
        return instance

    async def _live(self, instance: Instance) -> None:
        try:
            async with background(instance.service.run()):
                await instance.is_retired.wait()
                await self._clock.sleep(DRAIN_S)
        except KubevirtError as error:
            instance.failure = error
            instance.has_failed.set()


async def _true(event: asyncio.Event) -> None:
    await event.wait()


def _free_port(address: IPv4Address) -> int:
    """For both protocols. It may be gone a moment later: then another one is tried."""
    for _ in range(TRIES):
        with (
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
            socket.socket(socket.AF_INET, socket.SOCK_STREAM) as stream,
        ):
            datagrams.bind((str(address), 0))
            port: int = datagrams.getsockname()[1]
            with suppress(OSError):
                stream.bind((str(address), port))
                return port
    raise Retry(f"there is no free port on {address} for the cluster's names")
