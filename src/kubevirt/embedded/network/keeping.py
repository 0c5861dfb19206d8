"""Three things kept as they should be, each by a loop that looks when it hears of a change.

    Rules   the table of nftables, as Services and their endpoints ask; also when somebody flushed it
    Names   the name server, likewise
    Links   the gateway and the cables; also when somebody removed them or switched forwarding off

A change is heard of, not read: each look compares everything, and does nothing where nothing differs.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.log import get_logger
from kubevirt.embedded.network.dns.records import Records, names_elsewhere, records
from kubevirt.embedded.network.dns.server import Instance, NameServer
from kubevirt.embedded.network.duty import Duty
from kubevirt.embedded.network.objects import EndpointSlice, Service
from kubevirt.embedded.network.services.flows import Flow, flows, forget
from kubevirt.embedded.network.services.fronts import Front, fronts
from kubevirt.embedded.network.services.rules import NameServers, Place, table
from kubevirt.embedded.network.settings import NetworkSettings
from kubevirt.embedded.network.switchboard import Switchboard
from kubevirt.host.net.alarm import LINKS, RULES, Alarm
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.table import Loader
from kubevirt.kube.informer import Informer

TOGETHER_S: Final = 0.03
"""Changes that come so close are one."""
RULES_PAUSE_S: Final = 0.2
"""Between two looks at the rules: others on this machine change theirs, and we hear of it."""
NAMES_PAUSE_S: Final = 1.0
"""Between two name servers: each is a process."""
LINKS_PAUSE_S: Final = 2.0
"""Between two looks at all links, which pods coming and going give cause for all the time."""
ELSEWHERE_S: Final = 30.0
"""How long addresses of names that are not ours are believed."""
MOST_ELSEWHERE: Final = 100
RESOLVE_S: Final = 3.0

log = get_logger(__name__)


class Known:
    """The Services and their endpoints, as the server tells of them."""

    def __init__(self, services: Informer[Service], slices: Informer[EndpointSlice]) -> None:
        self.services = services
        self.slices = slices

    async def wait(self) -> None:
        await self.services.wait_synced()
        await self.slices.wait_synced()

    def tell(self, ring: Callable[[], None]) -> None:
        """Of every change."""
        self.services.add_handler(lambda _: ring())
        self.slices.add_handler(lambda _: ring())


class Rules:
    def __init__(
        self, settings: NetworkSettings, machine: Namespace, known: Known, names: NameServer
    ) -> None:
        self.duty = Duty("the rules of Services")
        self._settings = settings
        self._machine = machine
        self._known = known
        self._names = names
        self._loader = Loader()
        self._flows: set[Flow] = set()
        self._lock = asyncio.Lock()

    async def run(self, clock: Clock) -> None:
        await self._known.wait()
        with Alarm(self._machine, RULES) as alarm:
            self._known.tell(alarm.ring)
            alarm.ring()
            while True:
                await alarm.rings()
                await clock.sleep(TOGETHER_S)
                await self.duty.do(self.load, clock)
                await clock.sleep(RULES_PAUSE_S)

    async def load(self) -> None:
        async with self._lock:
            found = self._fronts()
            wanted = table(self._place, found, self._servers)
            if await self._machine.run(lambda: self._loader.load(wanted)):
                log.info("rules loaded", chains=len(wanted.chains))
            before, self._flows = self._flows, flows(found)
            if gone := sorted(before - self._flows):
                await self._machine.run(lambda: forget(gone))

    @property
    def _place(self) -> Place:
        settings = self._settings
        return Place(
            table=settings.table,
            links=f"{settings.link_prefix}*",
            gateway=str(settings.gateway),
            pods=settings.pods,
            services=settings.services,
        )

    @property
    def _servers(self) -> NameServers | None:
        ports = self._names.ports
        address = str(self._settings.dns_address)
        return NameServers(address=address, ports=ports) if ports else None

    def _fronts(self) -> Sequence[Front]:
        """Without the one of names, which leads to wherever they are served now."""
        own = str(self._settings.dns_address)
        found = fronts(self._known.services, self._known.slices)
        return [front for front in found if front.address != own]


class Names:
    def __init__(
        self, settings: NetworkSettings, known: Known, server: NameServer, rules: Rules
    ) -> None:
        self.duty = Duty("the names of the cluster")
        """That a server has them to which the rules lead."""
        self._settings = settings
        self._known = known
        self._server = server
        self._rules = rules
        self._stale = asyncio.Event()
        self._led_to: int | None = None
        self._former: list[Instance] = []
        self._elsewhere: Mapping[str, Sequence[str]] = {}

    async def run(self, clock: Clock) -> None:
        await self._known.wait()
        self._known.tell(self._stale.set)
        while True:
            await self.duty.do(self._publish, clock)
            await clock.sleep(NAMES_PAUSE_S)
            try:
                async with clock.timeout(ELSEWHERE_S if self._wanted() else None):
                    await self._stale.wait()
            except TimeoutError:
                pass

    def _wanted(self) -> set[str]:
        return names_elsewhere(self._known.services, self._settings.domain)

    async def _publish(self) -> None:
        self._stale.clear()
        self._elsewhere = await _addresses(self._wanted(), self._elsewhere)
        before = await self._server.publish(self._records())
        if before is not None:
            self._former.append(before)
        if self._server.port != self._led_to:
            await self._rules.load()
            self._led_to = self._server.port
        while self._former:
            self._server.retire(self._former.pop())

    def _records(self) -> Records:
        known = self._known
        return records(known.services, known.slices, self._settings.domain, self._elsewhere)


class Links:
    def __init__(self, switchboard: Switchboard, machine: Namespace) -> None:
        self.duty = Duty("the links of pods")
        self._switchboard = switchboard
        self._machine = machine

    async def run(self, clock: Clock) -> None:
        with Alarm(self._machine, LINKS) as alarm:
            while True:
                await alarm.rings()
                await clock.sleep(TOGETHER_S)
                await self.duty.do(self._switchboard.mend, clock)
                await clock.sleep(LINKS_PAUSE_S)


async def _addresses(
    names: set[str], known: Mapping[str, Sequence[str]]
) -> Mapping[str, Sequence[str]]:
    """As the machine itself resolves them. For one that cannot be resolved now, what was known of it."""
    asked = sorted(names)[:MOST_ELSEWHERE]
    answers = await asyncio.gather(*map(_resolved, asked))
    return {
        name: known.get(name, ()) if answer is None else answer
        for name, answer in zip(asked, answers, strict=True)
    }


async def _resolved(name: str) -> Sequence[str] | None:
    try:
        async with asyncio.timeout(RESOLVE_S):
            answers = await asyncio.get_running_loop().getaddrinfo(
                name, None, family=socket.AF_INET, type=socket.SOCK_STREAM
            )
    except OSError:  # a time-out among them
        return None
    return sorted({str(address[0]) for *_, address in answers})
