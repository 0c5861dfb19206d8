"""The agent is asked at KubeVirt's intervals, believed while it is there, and never waited for."""

from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio

from kubevirt.base.clock import Clock
from kubevirt.base.errors import UserError
from kubevirt.base.tasks import background
from kubevirt.components.launcher.freezer import Freezer
from kubevirt.components.launcher.guest_agent import GuestAgent
from kubevirt.components.launcher.guest_answers import agent_info, filesystem_list, user_list
from kubevirt.components.launcher.notes import Notes
from kubevirt.components.launcher.picture import Picture
from kubevirt.host.libvirt.agent import Agent
from kubevirt.host.libvirt.agent_answers import (
    AgentCommand,
    AgentInfo,
    GuestAddress,
    GuestDisk,
    GuestFilesystem,
    GuestInterface,
    GuestOs,
    GuestTimezone,
    GuestUser,
)
from kubevirt.host.libvirt.errors import AgentError
from kubevirt.rpc import reports

pytestmark = pytest.mark.virtual_time


class Told:
    """A picture that keeps what was put into it last."""

    def __init__(self) -> None:
        self.cards: tuple[reports.InterfaceStatus, ...] = ()
        self.os_info = reports.OsInfo()
        self.is_frozen = False
        self.commands: tuple[str, ...] | None = None
        self.changes = 0

    def agent_told(
        self,
        interfaces: tuple[reports.InterfaceStatus, ...],
        os_info: reports.OsInfo,
        *,
        is_frozen: bool,
        commands: tuple[str, ...] | None,
    ) -> None:
        self.cards, self.os_info, self.is_frozen = interfaces, os_info, is_frozen
        self.commands = commands
        self.changes += 1


class Asked:
    """An agent that counts questions, and can be out of its mind."""

    def __init__(self) -> None:
        self.questions: Counter[str] = Counter()
        self.is_mad = False
        self.frozen = False
        self.thaws = 0
        self.addresses: tuple[GuestAddress, ...] = ()

    async def _answer(self, question: str, answer: Any) -> Any:
        self.questions[question] += 1
        if self.is_mad:
            raise AgentError("it answered with something else")
        return answer

    async def info(self) -> Any:
        commands = (
            AgentCommand(name="guest-exec"),
            AgentCommand(name="guest-file-open", enabled=False),
        )
        return await self._answer("info", AgentInfo(version="7.2", supported_commands=commands))

    async def os(self) -> Any:
        return await self._answer("os", GuestOs(name="CirrOS", id="cirros"))

    async def hostname(self) -> Any:
        return await self._answer("hostname", "testvm")

    async def timezone(self) -> Any:
        return await self._answer("timezone", GuestTimezone(zone="CET", offset=3600))

    async def users(self) -> Any:
        return await self._answer("users", (GuestUser(user="cirros", login_time=1.5),))

    async def filesystems(self) -> Any:
        disk = GuestDisk(bus_type="virtio", serial="s1")
        root = GuestFilesystem(
            name="vda1", mountpoint="/", type="ext4", used_bytes=1, total_bytes=2, disk=(disk,)
        )
        return await self._answer("filesystems", (root,))

    async def interfaces(self) -> Any:
        loop = GuestInterface(name="lo")
        card = GuestInterface(
            name="eth0", hardware_address="02:00:00:00:00:01", ip_addresses=self.addresses
        )
        return await self._answer("interfaces", (loop, card))

    async def is_frozen(self) -> Any:
        return await self._answer("is_frozen", self.frozen)

    async def freeze(self) -> int:
        self.frozen = True
        return 1

    async def thaw(self) -> int:
        if self.is_mad:
            raise AgentError("it does not answer")
        self.frozen = False
        self.thaws += 1
        return 1


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest_asyncio.fixture
async def agent(asked: Asked, told: Told, clock: Clock) -> AsyncIterator[GuestAgent]:
    it = GuestAgent(cast("Agent", asked), cast("Picture", told), clock)
    async with background(it.keep_asking()):
        yield it


async def test_nobody_is_asked_before_the_agent_is_there(
    agent: GuestAgent, asked: Asked, clock: Clock
) -> None:
    await clock.sleep(600)
    assert not asked.questions


async def test_everything_is_asked_at_once_when_the_agent_appears(
    agent: GuestAgent, asked: Asked, told: Told, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await clock.sleep(0.1)
    assert set(asked.questions.values()) == {1}
    assert told.os_info.id == "cirros"
    assert told.commands == ("guest-exec",)
    info = agent_info(agent.knows)
    assert info.guest_agent_version == "7.2"
    assert info.timezone == "CET, 3600"
    assert info.supported_commands[0].name == "guest-exec"
    [user] = user_list(agent.knows).items
    assert (user.user_name, user.login_time) == ("cirros", 1.5)
    [root] = filesystem_list(agent.knows).items
    assert (root.disk_name, root.mount_point, root.total_bytes) == ("vda1", "/", 2)
    assert root.disk[0].serial == "s1"


async def test_an_hour_has_as_many_questions_as_kubevirt_asks(
    agent: GuestAgent, asked: Asked, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await clock.sleep(600)  # the eager first minutes
    asked.questions.clear()
    await clock.sleep(3600)
    found = asked.questions
    assert found["users"] == pytest.approx(360, abs=2)
    assert found["is_frozen"] == pytest.approx(720, abs=2)
    for thing in ("os", "hostname", "timezone", "interfaces"):
        assert found[thing] == pytest.approx(30, abs=2)
    for thing in ("info", "filesystems"):
        assert found[thing] == pytest.approx(12, abs=2)


async def test_an_address_that_comes_a_little_later_is_known_soon(
    agent: GuestAgent, asked: Asked, told: Told, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await clock.sleep(3)
    assert told.cards[0].ip == ""
    asked.addresses = (
        GuestAddress(ip_address="fe80::1", ip_address_type="ipv6"),
        GuestAddress(ip_address="10.0.2.2"),
    )
    await clock.sleep(5)
    [card] = told.cards
    assert (card.ip, card.ips, card.interface_name) == (
        *("10.0.2.2", ("10.0.2.2", "fe80::1"), "eth0"),
    )


async def test_what_an_agent_told_is_forgotten_when_it_goes(
    agent: GuestAgent, told: Told, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await clock.sleep(1)
    agent.channel_is(connected=False)
    assert told.os_info == reports.OsInfo()
    assert told.commands is None
    assert agent.knows.info is None


async def test_nonsense_leaves_what_was_known(
    agent: GuestAgent, asked: Asked, told: Told, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await clock.sleep(1)
    asked.is_mad = True
    await clock.sleep(1000)
    assert told.os_info.id == "cirros"
    assert agent.is_connected


@pytest_asyncio.fixture
async def freezer(
    asked: Asked, agent: GuestAgent, tmp_path: Path, clock: Clock
) -> AsyncIterator[Freezer]:
    it = Freezer(cast("Agent", asked), agent, Notes(str(tmp_path)), clock)
    async with background(it.keep_thawing()):
        yield it


async def test_a_freeze_ends_in_time_even_if_nobody_ends_it(
    freezer: Freezer, agent: GuestAgent, asked: Asked, told: Told, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await freezer.freeze(30)
    await clock.sleep(29)
    assert (asked.thaws, told.is_frozen) == (0, True)
    await clock.sleep(8)
    assert (asked.thaws, told.is_frozen) == (1, False)


async def test_a_freeze_without_an_end_has_one_all_the_same(
    freezer: Freezer, agent: GuestAgent, asked: Asked, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await freezer.freeze(0)
    await clock.sleep(299)
    assert asked.thaws == 0
    await clock.sleep(2)
    assert asked.thaws == 1


async def test_freezing_again_moves_the_end(
    freezer: Freezer, agent: GuestAgent, asked: Asked, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await freezer.freeze(10)
    await clock.sleep(8)
    await freezer.freeze(10)
    await clock.sleep(8)
    assert asked.thaws == 0
    await clock.sleep(3)
    assert asked.thaws == 1


async def test_a_thaw_that_fails_is_tried_again(
    freezer: Freezer, agent: GuestAgent, asked: Asked, clock: Clock
) -> None:
    agent.channel_is(connected=True)
    await freezer.freeze(10)
    asked.is_mad = True
    await clock.sleep(60)
    assert asked.thaws == 0
    asked.is_mad = False
    await clock.sleep(6)
    assert asked.thaws == 1


async def test_without_an_agent_nothing_is_frozen(freezer: Freezer) -> None:
    with pytest.raises(UserError, match="install qemu-guest-agent"):
        await freezer.freeze(10)
