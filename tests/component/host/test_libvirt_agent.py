"""The guest's agent: a good one, an old one, one that is away, and one that wants us harm."""

import asyncio
import base64
import json
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio
from tests.component.host.fake_agent import (
    FakeAgent,
    guest_with_fake_agent,
    guest_with_real_agent,
)
from tests.component.host.libvirt_world import World, needs_libvirt, world

from guestimage.image import Images
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
from kubevirt.host.libvirt.domain import LiveDomain
from kubevirt.host.libvirt.errors import AgentError
from kubevirt.host.libvirt.hypervisor import Hypervisor
from kubevirt.host.libvirt.states import State

pytestmark = [needs_libvirt, pytest.mark.asyncio(loop_scope="module")]


@dataclass
class Scene:
    world: World
    virt: Hypervisor
    agent: Agent
    fake: FakeAgent


@asynccontextmanager
async def a_scene(images: Images) -> AsyncIterator[Scene]:
    fake = FakeAgent()
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt, guest_with_fake_agent(it, virt, images, fake) as agent:
            yield Scene(it, virt, agent, fake)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def scene(guest_images: Images) -> AsyncIterator[Scene]:
    """One guest for the file: it takes seconds to boot."""
    async with a_scene(guest_images) as it:
        yield it


@pytest_asyncio.fixture(loop_scope="module")
async def doomed(guest_images: Images) -> AsyncIterator[Scene]:
    """A guest for one test, after which libvirt will not listen to its agent any more."""
    async with a_scene(guest_images) as it:
        yield it


async def test_the_real_agent_of_a_real_guest_tells_what_it_is(guest_images: Images) -> None:
    async with world() as it:
        await it.start_daemon()
        async with it.hypervisor() as virt:
            agent = await guest_with_real_agent(it, virt, guest_images)
            await agent.ping()
            info = await agent.info()
            assert "guest-exec" in {each.name for each in info.supported_commands if each.enabled}
            assert (await agent.os()).kernel_release
            assert await agent.hostname()
            assert "lo" in {each.name for each in await agent.interfaces()}
            assert not await agent.is_frozen()
            done = await agent.execute(
                "/bin/sh", "-c", "cat; echo oops >&2; exit 3", stdin=b"hello"
            )
            assert (done.exit_code, done.stdout, done.stderr) == (3, b"hello", b"oops\n")
            long = await agent.execute("/bin/sh", "-c", "head -c 2000000 /dev/zero")
            assert long.truncated
            assert len(long.stdout) == 1024 * 1024


async def test_what_an_agent_tells_comes_out_typed(scene: Scene) -> None:
    fake, agent = scene.fake, scene.agent
    fake.returns({})
    await agent.ping()
    fake.returns({"version": "8.2", "supported_commands": [{"name": "guest-x", "enabled": False}]})
    assert await agent.info() == AgentInfo(
        version="8.2", supported_commands=(AgentCommand(name="guest-x", enabled=False),)
    )
    fake.returns({"id": "debian", "pretty-name": "Debian 12", "kernel-release": "6.1"})
    assert await agent.os() == GuestOs(id="debian", pretty_name="Debian 12", kernel_release="6.1")
    fake.returns({"host-name": "testvm"})
    assert await agent.hostname() == "testvm"
    fake.returns({"zone": "CET", "offset": 3600})
    assert await agent.timezone() == GuestTimezone(zone="CET", offset=3600)
    fake.returns([{"user": "cirros", "login-time": 1.5}])
    assert await agent.users() == (GuestUser(user="cirros", login_time=1.5),)
    disk = {"bus-type": "virtio", "serial": "s", "dev": "/dev/vda", "target": 0}
    fake.returns([{"name": "vda1", "mountpoint": "/", "type": "ext4", "disk": [disk]}])
    assert await agent.filesystems() == (
        GuestFilesystem(
            name="vda1",
            mountpoint="/",
            type="ext4",
            disk=(GuestDisk(bus_type="virtio", serial="s", dev="/dev/vda"),),
        ),
    )
    address = {"ip-address": "10.0.2.2", "ip-address-type": "ipv4", "prefix": 24}
    fake.returns(
        [{"name": "eth0", "hardware-address": "02:00:00:00:00:01", "ip-addresses": [address]}]
    )
    assert await agent.interfaces() == (
        GuestInterface(
            name="eth0",
            hardware_address="02:00:00:00:00:01",
            ip_addresses=(GuestAddress(ip_address="10.0.2.2", prefix=24),),
        ),
    )


async def test_what_an_agent_is_asked_reaches_it(scene: Scene) -> None:
    fake, agent = scene.fake, scene.agent
    fake.heard.clear()
    fake.returns({})
    await agent.set_password("cirros", 'p"\\\n')
    await agent.set_ssh_keys("cirros", ["ssh-ed25519 A", "ssh-ed25519 B"])
    fake.returns({"keys": ["ssh-ed25519 A"]})
    assert await agent.ssh_keys("cirros") == ("ssh-ed25519 A",)
    fake.returns(3)
    assert await agent.freeze() == 3
    assert await agent.thaw() == 3
    fake.returns("frozen")
    assert await agent.is_frozen()
    password = fake.heard[0]["arguments"].pop("password")
    assert base64.b64decode(password) == b'p"\\\n'
    assert fake.heard[:2] == [
        {
            "execute": "guest-set-user-password",
            "arguments": {"username": "cirros", "crypted": False},
        },
        {
            "execute": "guest-ssh-add-authorized-keys",
            "arguments": {
                "username": "cirros",
                "keys": ["ssh-ed25519 A", "ssh-ed25519 B"],
                "reset": True,
            },
        },
    ]


async def test_a_program_runs_in_the_guest_and_its_output_comes_back(scene: Scene) -> None:
    looks = iter([False, False, True])

    def answer(command: str, arguments: dict[str, Any]) -> bytes:
        if command == "guest-exec":
            return _line({"pid": 7})
        assert arguments == {"pid": 7}
        if not next(looks):
            return _line({"exited": False})
        out = base64.b64encode(b"hello\n").decode()
        return _line({"exited": True, "exitcode": 3, "out-data": out})

    scene.fake.answer = answer
    done = await scene.agent.execute("/bin/echo", "hello", stdin=b"x")
    assert (done.exit_code, done.stdout, done.stderr, done.truncated) == (3, b"hello\n", b"", False)


async def test_a_program_that_does_not_end_costs_its_limit(scene: Scene) -> None:
    scene.fake.answer = lambda command, _: _line(
        {"pid": 7} if command == "guest-exec" else {"exited": False}
    )
    with pytest.raises(AgentError, match=r"'/bin/sleep' has not ended in the guest after 0\.3 s"):
        await scene.agent.execute("/bin/sleep", "1d", limit_s=0.3)


async def test_an_error_of_the_agent_is_told_in_its_words(scene: Scene) -> None:
    scene.fake.sends(b'{"error": {"class": "CommandNotFound", "desc": "no such command"}}\n')
    with pytest.raises(AgentError, match="no such command"):
        await scene.agent.users()


async def test_an_agent_that_never_answers_costs_a_question_its_limit_and_nobody_else(
    scene: Scene,
) -> None:
    scene.fake.is_silent()
    guest = LiveDomain(scene.virt, "default_testvm")
    async with asyncio.TaskGroup() as tasks:
        question = tasks.create_task(_error_of(scene.agent.ping(limit_s=6)))
        await asyncio.sleep(0.1)
        await guest.suspend()
        await guest.resume()
        assert not question.done(), "the guest's agent must not hold up its pausing"
        error = await question
    assert "not respond" in error or "not available" in error or "timeout" in error.lower(), error
    assert scene.virt.is_connected
    scene.fake.returns({})
    await scene.agent.ping()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"return": [{"name": 7}]}, id="a number for a name"),
        pytest.param({"return": {"name": "eth0"}}, id="an object for a list"),
        pytest.param({"return": None}, id="nothing"),
        pytest.param({"return": [[[["eth0"]]]]}, id="lists in lists"),
        pytest.param({"return": [{"name": "x", "ip-addresses": "many"}]}, id="a text for a list"),
        pytest.param({"return": [{}]}, id="nothing in it"),
    ],
)
async def test_an_answer_of_the_wrong_kind_is_an_error(scene: Scene, answer: object) -> None:
    scene.fake.sends(json.dumps(answer).encode() + b"\n")
    with pytest.raises(AgentError, match="answered with something else"):
        await scene.agent.interfaces()


async def test_ten_thousand_network_cards_are_cut_to_a_few(scene: Scene) -> None:
    scene.fake.returns([{"name": f"eth{number}"} for number in range(10_000)])
    found = await scene.agent.interfaces()
    assert [each.name for each in found] == [f"eth{number}" for number in range(256)]


async def test_a_long_text_is_cut(scene: Scene) -> None:
    scene.fake.returns({"host-name": "x" * 100_000})
    assert await scene.agent.hostname() == "x" * 1024


async def test_megabytes_of_answer_are_refused_within_bounded_memory(scene: Scene) -> None:
    scene.fake.returns({"host-name": "x" * 3_000_000})
    tracemalloc.start()
    try:
        with pytest.raises(AgentError, match="too many to read"):
            await scene.agent.hostname()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 24_000_000


async def test_more_than_libvirt_itself_takes_ends_the_question_and_not_the_daemon(
    doomed: Scene,
) -> None:
    doomed.fake.returns({"host-name": "x" * 11_000_000})
    with pytest.raises(AgentError):
        await doomed.agent.hostname()
    await _daemon_and_guest_are_well(doomed)


async def test_deep_nesting_is_an_error_and_kills_nobody(doomed: Scene) -> None:
    for depth in (500, 20_000, 200_000):
        doomed.fake.sends(b'{"return": ' + b"[" * depth + b"]" * depth + b"}\n")
        with pytest.raises(AgentError):
            await doomed.agent.interfaces()
    await _daemon_and_guest_are_well(doomed)


async def test_garbage_without_end_costs_a_question_its_limit(doomed: Scene) -> None:
    doomed.fake.babble = b"\x00\xfe{[[" * 20_000 + b"\n"
    for _ in range(2):
        with pytest.raises(AgentError):
            await doomed.agent.ping(limit_s=2)
    await _daemon_and_guest_are_well(doomed)


async def test_questions_asked_at_once_are_answered_one_after_the_other(scene: Scene) -> None:
    scene.fake.answer = lambda _, arguments: _line({"keys": [arguments["username"]]})
    names = [f"user{number}" for number in range(20)]
    answers = await asyncio.gather(*(scene.agent.ssh_keys(name) for name in names))
    assert [each[0] for each in answers] == names


def _line(value: object) -> bytes:
    return json.dumps({"return": value}).encode() + b"\n"


async def _error_of(question: Any) -> str:
    with pytest.raises(AgentError) as caught:
        await question
    return str(caught.value)


async def _daemon_and_guest_are_well(scene: Scene) -> None:
    assert await scene.world.is_alive(scene.world.daemon_pid)
    guest = LiveDomain(scene.virt, "default_testvm")
    await guest.suspend()
    await guest.resume()
    assert (await guest.state()).state == State.RUNNING
