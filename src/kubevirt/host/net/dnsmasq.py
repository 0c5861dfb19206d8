"""The guest's DHCP server: dnsmasq, in the pod's network namespace, kept running.

    async with serving(namespace, plan.dhcp, clock=clock) as service:
        ...                                     # it answers from here on, until the body ends

It refuses to start without NET_ADMIN, which is why it is started here, by the privileged side, and not by
the launcher. The lease follows from the configuration, so one that was started again confirms what the last
one gave. How it is kept running is in `dnsmasq_life`.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from kubevirt.base.clock import Clock
from kubevirt.base.log import Logger, get_logger
from kubevirt.base.tasks import background
from kubevirt.host.net import dnsmasq_life
from kubevirt.host.net.dnsmasq_life import PROGRAM, Served, Service, sealed
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.network.dhcp import DhcpServer
from kubevirt.virt.network.dnsmasq import config
from kubevirt.virt.network.plan import InterfacePlan

__all__ = ["PROGRAM", "Service", "command", "sealed", "serving", "serving_all"]

_log = get_logger("host.net.dnsmasq")


@asynccontextmanager
async def serving(
    namespace: Namespace,
    server: DhcpServer,
    *,
    clock: Clock,
    log: Logger = _log,
    program: str = PROGRAM,
) -> AsyncIterator[Service]:
    """Serves one guest while the body runs; the body begins when it answers."""
    served = Served(
        what=f"the DHCP of {server.link}",
        config=config(server),
        capabilities=_capabilities(server),
    )
    service = Service(namespace, served, clock=clock, log=log, program=program)
    async with background(service.run()):
        await service.answers()
        yield service


@asynccontextmanager
async def serving_all(
    namespace: Namespace, plans: Sequence[InterfacePlan], *, clock: Clock, log: Logger = _log
) -> AsyncIterator[tuple[Service, ...]]:
    """One server for each interface that has one planned."""
    async with AsyncExitStack() as stack:
        services = [
            await stack.enter_async_context(serving(namespace, plan.dhcp, clock=clock, log=log))
            for plan in plans
            if plan.dhcp is not None
        ]
        yield tuple(services)


def command(
    namespace: Namespace, server: DhcpServer, configuration: int, program: str = PROGRAM
) -> list[str]:
    """How to start it, for owners of another kind; see `dnsmasq_life`."""
    return dnsmasq_life.command(namespace, _capabilities(server), configuration, program)


def _capabilities(server: DhcpServer) -> tuple[str, ...]:
    """Router advertisements need a raw socket; DHCP alone does not, as it pings nobody here."""
    return ("net_admin", "net_bind_service", *(["net_raw"] if server.v6 else []))
