"""The guest agent, over its virtio channel."""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.guest.machine import BOOT_LIMIT_S, Line, Machine, disk

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)


class Agent:
    def __init__(self, line: Line) -> None:
        self._line = line

    async def ask(self, command: str, **arguments: Any) -> Any:
        await self._line.send(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        answer = json.loads((await self._line.expect(r"\{.*\}\n"))[0])
        assert "return" in answer, answer
        return answer["return"]

    async def sync(self) -> None:
        await self._line.send('{"execute": "guest-sync", "arguments": {"id": 4711}}\n')
        await self._line.expect(r'\{"return": 4711\}\n', BOOT_LIMIT_S)

    async def set_password(self, password: str) -> None:
        secret = base64.b64encode(password.encode()).decode()
        await self.ask(
            "guest-set-user-password",
            username="cirros",
            password=secret,
            crypted=False,  # codespell:ignore crypted
        )

    async def tell(self, command: str) -> None:
        await self._line.send(json.dumps({"execute": command}) + "\n")


@contextlib.asynccontextmanager
async def agent_of(images: image.Images, folder: Path) -> AsyncIterator[tuple[Machine, Agent]]:
    connected: asyncio.Future[Line] = asyncio.get_running_loop().create_future()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set_result(Line(reader, writer))

    server = await asyncio.start_unix_server(accept, folder / "agent")
    more = [
        *("-device", "virtio-serial-pci", "-chardev", f"socket,id=agent,path={folder / 'agent'}"),
        *("-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"),
    ]
    try:
        async with Machine.start(folder, *disk(images.raw(guests.CIRROS)), more=more) as machine:
            line = await connected
            await machine.serial.expect("login: ", BOOT_LIMIT_S)
            agent = Agent(line)
            await agent.sync()
            yield machine, agent
            await line.close()
    finally:
        server.close()


async def test_the_agent_tells_about_its_guest_and_who_logs_in(
    images: image.Images, folder: Path
) -> None:
    async with agent_of(images, folder) as (machine, agent):
        assert await agent.ask("guest-ping") == {}
        assert (await agent.ask("guest-get-host-name"))["host-name"] == "cirros"
        system = await agent.ask("guest-get-osinfo")
        assert system["id"] == "kubevirt-py-guest"
        assert system["kernel-release"].endswith("-kubevirt")
        (root,) = [
            each for each in await agent.ask("guest-get-fsinfo") if each["mountpoint"] == "/"
        ]
        assert root["type"] == "ext4"
        names = [each["name"] for each in await agent.ask("guest-network-get-interfaces")]
        assert "lo" in names
        assert await agent.ask("guest-get-users") == []
        await agent.set_password("by-agent")
        await machine.serial.send("\n")
        await machine.login(password="by-agent")
        (user,) = await agent.ask("guest-get-users")
        assert user["user"] == "cirros"


async def test_the_agent_runs_commands_freezes_thaws_and_turns_off(
    images: image.Images, folder: Path
) -> None:
    async with agent_of(images, folder) as (machine, agent):
        started = await agent.ask(
            "guest-exec", path="/bin/sh", arg=["-c", "id -un"], **{"capture-output": True}
        )
        status: dict[str, Any] = {}
        async with asyncio.timeout(60):
            while not status.get("exited"):
                status = await agent.ask("guest-exec-status", pid=started["pid"])
        assert base64.b64decode(status["out-data"]) == b"root\n"
        assert await agent.ask("guest-fsfreeze-freeze") >= 1
        assert await agent.ask("guest-fsfreeze-status") == "frozen"
        assert await agent.ask("guest-fsfreeze-thaw") >= 1
        await agent.tell("guest-shutdown")
        assert await machine.ended() == 0
