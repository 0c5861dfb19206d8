"""The guest's agent: what it tells of the guest, asked for now and then while it is there.

Everything at once when it appears, then each thing at its own interval, as KubeVirt does. An answer that does
not come, or is nonsense, leaves what was known before; an agent that goes away takes its knowledge along.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.picture import Picture
from kubevirt.host.libvirt.agent import Agent
from kubevirt.host.libvirt.agent_answers import (
    AgentInfo,
    GuestFilesystem,
    GuestInterface,
    GuestOs,
    GuestTimezone,
    GuestUser,
)
from kubevirt.rpc import reports

log = get_logger(__name__)

SYSTEM_S: Final = 120.0
FILESYSTEMS_S: Final = 300.0
USERS_S: Final = 10.0
VERSION_S: Final = 300.0
FREEZE_S: Final = 5.0
FIRST_REPEAT_S: Final = 2.0
"""An agent starts before the guest has an address, so the first questions follow each other quickly."""


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """All that the agent has told."""

    info: AgentInfo | None = None
    os: GuestOs = GuestOs()
    hostname: str = ""
    timezone: GuestTimezone | None = None
    users: tuple[GuestUser, ...] = ()
    filesystems: tuple[GuestFilesystem, ...] = ()
    interfaces: tuple[GuestInterface, ...] = ()
    is_frozen: bool = False


class _Question:
    """One thing to ask, and when next."""

    def __init__(self, ask: Callable[[], Awaitable[Any]], interval_s: float) -> None:
        self.ask = ask
        self.due = 0.0
        self._interval_s = interval_s
        self._next_s = min(FIRST_REPEAT_S, interval_s)

    def begin_again(self) -> None:
        self.due, self._next_s = 0.0, min(FIRST_REPEAT_S, self._interval_s)

    def was_asked(self, now: float) -> None:
        self.due = now + self._next_s
        self._next_s = min(2 * self._next_s, self._interval_s)


class GuestAgent:
    def __init__(self, agent: Agent, picture: Picture, clock: Clock) -> None:
        self.knows = Knowledge()
        self._picture = picture
        self._clock = clock
        self._is_connected = asyncio.Event()
        self._questions: Mapping[str, _Question] = {
            "info": _Question(agent.info, VERSION_S),
            "interfaces": _Question(agent.interfaces, SYSTEM_S),
            "os": _Question(agent.os, SYSTEM_S),
            "hostname": _Question(agent.hostname, SYSTEM_S),
            "timezone": _Question(agent.timezone, SYSTEM_S),
            "filesystems": _Question(agent.filesystems, FILESYSTEMS_S),
            "users": _Question(agent.users, USERS_S),
            "is_frozen": _Question(agent.is_frozen, FREEZE_S),
        }

    @property
    def is_connected(self) -> bool:
        return self._is_connected.is_set()

    def channel_is(self, *, connected: bool) -> None:
        """What libvirt says of the agent's channel."""
        if connected == self.is_connected:
            return
        log.info("the guest's agent", connected=connected)
        if connected:
            for question in self._questions.values():
                question.begin_again()
            self._is_connected.set()
        else:
            self._is_connected.clear()
            self._learn(Knowledge())

    def ask_again(self, thing: str) -> None:
        """Something was done that changes the answer."""
        self._questions[thing].due = 0.0

    async def keep_asking(self) -> None:
        while True:
            await self._is_connected.wait()
            name, question = min(self._questions.items(), key=lambda each: each[1].due)
            wait_s = question.due - self._clock.monotonic()
            if wait_s > 0:
                await self._clock.sleep(min(wait_s, FREEZE_S))
                continue
            await self._ask(name, question)

    async def _ask(self, name: str, question: _Question) -> None:
        try:
            answer = await question.ask()
        except KubevirtError as error:
            log.debug("the agent does not tell", what=name, reason=str(error))
        else:
            if self.is_connected:
                self._learn(replace(self.knows, **{name: answer}))
        question.was_asked(self._clock.monotonic())

    def _learn(self, knowledge: Knowledge) -> None:
        self.knows = knowledge
        self._picture.agent_told(
            interfaces=tuple(_card(each) for each in knowledge.interfaces if each.name != "lo"),
            os_info=_os_info(knowledge.os),
            is_frozen=knowledge.is_frozen,
            commands=_offered(knowledge.info),
        )


def _offered(info: AgentInfo | None) -> tuple[str, ...] | None:
    """In an order of our own: the same ones are no news."""
    if info is None:
        return None
    return tuple(sorted({each.name for each in info.supported_commands if each.enabled}))


def _card(card: GuestInterface) -> reports.InterfaceStatus:
    # IPv4 first: it is the one that people use.
    addresses = sorted(card.ip_addresses, key=lambda each: each.ip_address_type != "ipv4")
    ips = tuple(each.ip_address for each in addresses)
    return reports.InterfaceStatus(
        mac=card.hardware_address, ip=ips[0] if ips else "", ips=ips, interface_name=card.name
    )


def _os_info(system: GuestOs) -> reports.OsInfo:
    return reports.OsInfo(
        name=system.name,
        kernel_release=system.kernel_release,
        version=system.version,
        pretty_name=system.pretty_name,
        version_id=system.version_id,
        kernel_version=system.kernel_version,
        machine=system.machine,
        id=system.id,
    )
