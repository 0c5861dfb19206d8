"""The networks of all nodes of a home, opened and kept up.

    async with opened(settings, client, clock) as networks:
        network = networks.node("node01")           # what the node's pods worker asks
        await network.set_up(pod)

Pods keep their network when this ends, or is killed, and have it when it is opened again; names are served
only while it is open. `tear_down_all` takes everything off the machine.
"""

import errno
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any, Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import ConfigError
from kubevirt.base.tasks import Latch, background
from kubevirt.embedded.network import publishing
from kubevirt.embedded.network.dns.server import NameServer
from kubevirt.embedded.network.duty import Duty
from kubevirt.embedded.network.keeping import Known, Links, Names, Rules
from kubevirt.embedded.network.node import NodeNetwork
from kubevirt.embedded.network.objects import ENDPOINT_SLICES, SERVICES
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.network.switchboard import Switchboard
from kubevirt.host.net.netns import Namespace
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, Result
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.triggers import own

BACKLOG: Final = 1024

Door = Callable[[socket.socket], AbstractAsyncContextManager[None]]
"""Serves the API on a listening socket while its body runs."""


class Networks:
    def __init__(
        self,
        switchboard: Switchboard,
        server: NameServer,
        duties: Sequence[Duty],
        upkeep: "_Upkeep",
    ) -> None:
        """`duties`: what makes Services work, and names, and then what else is kept up."""
        self._switchboard = switchboard
        self._server = server
        self._duties = duties
        self._upkeep = upkeep

    def node(self, name: str) -> NodeNetwork:
        return NodeNetwork(self._switchboard, name, lambda: self.trouble)

    @property
    def trouble(self) -> str:
        """What cannot be kept up at the moment, and why; empty if all is well."""
        found = (*(each.trouble for each in self._duties), self._server.trouble)
        return "; ".join(filter(None, found))

    @property
    def dns_pid(self) -> int | None:
        """Of the name server that answers now."""
        return self._server.pid

    async def settled(self) -> None:
        """Returns when Services work, and names. NetworkFailed if either cannot be had."""
        for each in self._duties[:2]:
            await each.done()

    async def tear_down_all(self) -> None:
        """Links, rules, namespaces, leases, settings of the machine. To be opened anew afterwards."""
        await self._upkeep.stop()
        await self._switchboard.take_away()


class _Upkeep:
    """What keeps the network up, until it is to go."""

    def __init__(self) -> None:
        self._is_over = Latch()
        self._has_ended = Latch()

    async def run(self, server: NameServer, *work: Coroutine[Any, Any, None]) -> None:
        try:
            async with server.running(), background(*work):
                await self._is_over.wait()
        finally:
            self._has_ended.open()

    async def stop(self) -> None:
        self._is_over.open()
        await self._has_ended.wait()


@asynccontextmanager
async def opened(
    settings: NetworkSettings,
    client: Client,
    clock: Clock,
    *,
    door: Door | None = None,
    machine: Namespace | None = None,
) -> AsyncIterator[Networks]:
    """`door` lets pods to the API server; without one only the machine itself reaches it. `machine` is
    the namespace that stands for the machine's, for tests.
    """
    async with AsyncExitStack() as stack:
        outside = machine or stack.enter_context(Namespace.current())
        switchboard = Switchboard(settings, outside)
        stack.callback(switchboard.close)
        await switchboard.open()
        if door is not None:
            listening = await outside.run(lambda: _listening(settings))
            stack.callback(listening.close)
            await stack.enter_async_context(door(listening))
        services = Informer(client, SERVICES, clock=clock)
        slices = Informer(client, ENDPOINT_SLICES, clock=clock)
        known = Known(services, slices)
        server = NameServer(settings, outside, clock)
        rules = Rules(settings, outside, known, server)
        names = Names(settings, known, server, rules)
        links = Links(switchboard, outside)
        work = (
            services.run(),
            slices.run(),
            rules.run(clock),
            names.run(clock),
            links.run(clock),
            _published(client, settings, known, clock).run(),
        )
        upkeep = _Upkeep()
        async with background(upkeep.run(server, *work)):
            duties = (rules.duty, names.duty, links.duty)
            yield Networks(switchboard, server, duties, upkeep)


def _published(
    client: Client, settings: NetworkSettings, known: Known, clock: Clock
) -> Controller[Key]:
    """Looks when one of the two is made, changed or removed, and once at the start."""

    async def reconcile(_: Key) -> Result:
        await publishing.publish(client, settings, known.services, known.slices)
        return DONE

    controller: Controller[Key] = Controller("network", reconcile, clock=clock)
    ours = (publishing.DNS, publishing.API)
    controller.watch(known.services, lambda change: [key for key in own(change) if key in ours])
    controller.watch(known.slices, lambda change: [key for key in own(change) if key in ours])
    controller.queue.add(publishing.DNS)
    return controller


def _listening(settings: NetworkSettings) -> socket.socket:
    """On the gateway's address; the rules let nobody else's machine come to it."""
    try:
        return socket.create_server(
            (str(settings.gateway), settings.api_port), backlog=BACKLOG, reuse_port=False
        )
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise ConfigError(
            f"port {settings.api_port} of {settings.gateway} is in use by another process, so pods could not "
            "reach the API server there; choose another port with --port",
            reason="PortInUse",
        ) from None
