"""A guest whose agent is the test: real libvirt, real QEMU, real virtio, and a liar at the end.

The guest is the project's own kernel with one program: it carries bytes between the agent's channel
and a second one, which is a socket that the test holds.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tests.component.host.libvirt_world import CLOCK, World, a_guest, next_event

from guestimage import guests, initramfs
from guestimage.image import Images
from guestimage.tree import Tree
from kubevirt.base.tasks import background
from kubevirt.host.libvirt.agent import Agent
from kubevirt.host.libvirt.domain import create
from kubevirt.host.libvirt.events import AgentChanged
from kubevirt.host.libvirt.hypervisor import Hypervisor

_RELAY = b"""#!/bin/busybox sh
/bin/busybox mount -t devtmpfs dev /dev
exec 3<>/dev/vport0p1 4<>/dev/vport0p2
while :; do /bin/busybox cat <&3 >&4; /bin/busybox sleep 0.1; done &
while :; do /bin/busybox cat <&4 >&3; /bin/busybox sleep 0.1; done
"""

_AGENT = """
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/>
      <address type='virtio-serial' controller='0' bus='0' port='1'/></channel>"""

Answer = bytes | None
"""What goes over the wire for a question; None is silence."""


class FakeAgent:
    """Answers what it is told to. `answer` may be replaced between questions."""

    def __init__(self) -> None:
        self.answer: Callable[[str, dict[str, Any]], Answer] = lambda _, __: _line({})
        self.heard: list[dict[str, Any]] = []
        self.babble = b""
        """Sent again and again, instead of anything that makes sense."""

    def returns(self, value: object) -> None:
        line = _line(value)
        self.answer = lambda _, __: line

    def sends(self, raw: bytes) -> None:
        self.answer = lambda _, __: raw

    def is_silent(self) -> None:
        self.answer = lambda _, __: None

    async def serve(self, path: Path) -> None:
        reader, writer = await asyncio.open_unix_connection(path, limit=1 << 20)
        try:
            while line := await reader.readline():
                await self._reply(line, writer)
        finally:
            writer.transport.abort()  # nobody may be there to read the rest

    async def _reply(self, line: bytes, writer: asyncio.StreamWriter) -> None:
        while self.babble:
            writer.write(self.babble)
            await writer.drain()
        try:
            question = json.loads(line.lstrip(b"\xff"))
        except ValueError:
            return
        arguments = question.get("arguments", {})
        if question["execute"].startswith("guest-sync"):
            writer.write(_line(arguments["id"]))
        else:
            self.heard.append(question)
            reply = self.answer(question["execute"], arguments)
            if reply is not None:
                writer.write(reply)
        with suppress(ConnectionError):
            await writer.drain()


def _line(value: object) -> bytes:
    return json.dumps({"return": value}).encode() + b"\n"


def relay_initramfs(images: Images, target: Path) -> None:
    """The guest's own files, and ours on top."""
    tree = Tree()
    tree.add_file("relay", _RELAY, mode=0o755)
    target.write_bytes(images.initramfs.read_bytes() + initramfs.pack(tree))


@asynccontextmanager
async def guest_with_fake_agent(
    it: World, virt: Hypervisor, images: Images, fake: FakeAgent
) -> AsyncIterator[Agent]:
    wire, kernel, disk = it.home / "wire", it.home / "kernel", it.home / "initramfs"
    kernel.write_bytes(images.kernel.read_bytes())
    relay_initramfs(images, disk)
    boot = (
        f"<kernel>{kernel}</kernel><initrd>{disk}</initrd>"
        "<cmdline>console=ttyS0 panic=-1 rdinit=/relay quiet</cmdline>"
    )
    channel = f"""
        <channel type='unix'><source mode='bind' path='{wire}'/>
          <target type='virtio' name='test'/>
          <address type='virtio-serial' controller='0' bus='0' port='2'/></channel>
        <serial type='file'><source path='{it.home}/console'/></serial>"""
    guest = await create(virt, a_guest(devices=_AGENT + channel, boot=boot))
    async with background(fake.serve(wire)):
        await agent_is_connected(virt)
        yield Agent(virt, guest.name, clock=CLOCK)


async def guest_with_real_agent(it: World, virt: Hypervisor, images: Images) -> Agent:
    """The project's guest from its disk, with QEMU's own agent in it."""
    disk = it.home / "disk.qcow2"
    disk.write_bytes(images.qcow2(guests.CIRROS).read_bytes())
    disks = f"""
        <disk type='file'><driver name='qemu' type='qcow2'/><source file='{disk}'/>
          <target dev='vda' bus='virtio'/></disk>"""
    guest = await create(virt, a_guest(devices=_AGENT + disks))
    await agent_is_connected(virt)
    return Agent(virt, guest.name, clock=CLOCK)


async def agent_is_connected(virt: Hypervisor) -> None:
    connected = False
    while not connected:
        event = await next_event(virt.events, AgentChanged, limit_s=45)
        connected = isinstance(event, AgentChanged) and event.connected
