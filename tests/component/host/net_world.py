"""A little world for network tests: an outside, a pod, and a guest that is a namespace.

    outside ──veth── pod: eth0 … tap0 ══pump══ guest: eth0

Nothing of the machine's own network is in it. The namespaces have no names, so whatever a test does,
nothing is left. A tap needs someone who reads it: the pump carries frames between the pod's tap and
one in the guest's namespace, so that any program in there sees what a virtual machine would.
"""

import asyncio
import fcntl
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from ipaddress import ip_interface
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from tests.unit.virt.pods import a_guest

from kubevirt.base import commands
from kubevirt.host.net.kernel import Kernel, Seen
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.pod import read_pod
from kubevirt.host.net.resolver import Resolver
from kubevirt.virt.network.facts import PodFacts, Route
from kubevirt.virt.network.plan import InterfacePlan
from kubevirt.virt.network.planning import plan_network

T = TypeVar("T")

needs_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="needs root: network namespaces are made and entered"
)

POD_MAC = "0a:58:0a:f4:01:05"
MTU = 1450
RESOLVER = Resolver(
    nameservers=("10.96.0.10", "fd00:10:96::a"),
    search_domains=("default.svc.cluster.local", "svc.cluster.local", "cluster.local"),
)

_TUNSETIFF = 0x400454CA
_IFF_TAP_WITHOUT_HEADER = 0x0002 | 0x1000
_FRAME = 65536


@dataclass(frozen=True)
class World:
    outside: Namespace
    pod: Namespace

    async def facts(self, **facts: bool) -> PodFacts:
        return await read_pod(self.pod, RESOLVER, **facts)

    async def plans(self, *interfaces: dict[str, object], **patch: object) -> list[InterfacePlan]:
        """Of a guest with these interfaces, as planned for this pod."""
        return list(plan_network(a_guest(*interfaces, **patch), await self.facts()))


@contextmanager
def a_world(*, ipv6: bool = False) -> Iterator[World]:
    with Namespace.new("outside") as outside, Namespace.new("pod") as pod:
        in_kernel(outside, lambda kernel: kernel.set_up(kernel.need("lo")))
        in_kernel(outside, lambda kernel: _cable(kernel, pod))
        in_kernel(pod, lambda kernel: _pod(kernel, ipv6=ipv6))
        if ipv6:
            in_kernel(outside, lambda kernel: address(kernel, "pod0", "fd00:10:244::1/64"))
        yield World(outside, pod)


def _cable(kernel: Kernel, pod: Namespace) -> None:
    link = kernel.add_veth("pod0", peer="eth0", peer_namespace=pod.fd)
    kernel.set_mtu(link, MTU)
    address(kernel, "pod0", "10.244.1.1/24")
    kernel.set_up(link)


def _pod(kernel: Kernel, *, ipv6: bool) -> None:
    kernel.set_up(kernel.need("lo"))
    link = kernel.need("eth0")
    kernel.set_mac(link, POD_MAC)
    kernel.set_mtu(link, MTU)
    address(kernel, "eth0", "10.244.1.5/24")
    kernel.set_up(link)
    kernel.add_route(link, Route(destination="0.0.0.0/0", gateway="10.244.1.1"))
    if ipv6:
        address(kernel, "eth0", "fd00:10:244::5/64")
        kernel.add_route(link, Route(destination="::/0", gateway="fd00:10:244::1"))


def address(kernel: Kernel, link: str, text: str) -> None:
    kernel.add_address(kernel.need(link), ip_interface(text))


def in_kernel(namespace: Namespace, work: Callable[[Kernel], T]) -> T:
    """What a test does or looks at in a namespace."""

    def inside() -> T:
        with Kernel() as kernel:
            return work(kernel)

    return namespace.call(inside)


def links_in(namespace: Namespace) -> dict[str, Seen]:
    return {link.name: link for link in in_kernel(namespace, lambda kernel: kernel.links())}


async def run_in(
    namespace: Namespace, program: str, *args: commands.Argument, check: bool = True
) -> commands.Completed:
    """Runs a program to its end in a namespace."""
    return await namespace.run(
        lambda: asyncio.run(commands.run(program, *args, timeout_s=30, check=check))
    )


@asynccontextmanager
async def a_guest_on(world: World, tap: str, mac: str) -> AsyncIterator[Namespace]:
    """A namespace whose `eth0` is the other end of a tap in the pod, as a guest's card would be."""
    with Namespace.new("guest") as guest:
        pod_end = world.pod.call(lambda: _open_tap(tap))
        guest_end = guest.call(lambda: _open_tap("eth0"))
        try:
            in_kernel(guest, lambda kernel: _card(kernel, mac))
            with _pump(pod_end, guest_end):
                yield guest
        finally:
            os.close(pod_end)
            os.close(guest_end)


def _card(kernel: Kernel, mac: str) -> None:
    kernel.set_up(kernel.need("lo"))
    link = kernel.need("eth0")
    kernel.set_mac(link, mac)
    kernel.set_mtu(link, MTU)
    kernel.set_up(link)


def _open_tap(name: str) -> int:
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(fd, _TUNSETIFF, struct.pack("16sH22x", name.encode(), _IFF_TAP_WITHOUT_HEADER))
    return fd


@contextmanager
def _pump(one: int, other: int) -> Iterator[None]:
    def carry(source: int, target: int) -> None:
        try:
            os.write(target, os.read(source, _FRAME))
        except OSError:  # a link that is down: the frame is lost, as frames are
            return

    loop = asyncio.get_running_loop()
    loop.add_reader(one, carry, one, other)
    loop.add_reader(other, carry, other, one)
    try:
        yield
    finally:
        loop.remove_reader(one)
        loop.remove_reader(other)


LEASE_SCRIPT = """#!/bin/sh
case "$1" in bound|renew) echo "event=$1"; env;; esac
"""


async def lease_of(guest: Namespace, folder: Path, *asked: str) -> dict[str, str]:
    """What a DHCP client hears, by busybox' names."""
    script = folder / "lease-script"
    script.write_text(LEASE_SCRIPT)
    script.chmod(0o755)
    options = [word for each in asked for word in ("-O", each)]
    client = ["udhcpc", "-i", "eth0", "-f", "-n", "-q", "-t", "20", "-T", "1", "-s", str(script)]
    done = await run_in(guest, "busybox", *client, *options)
    return dict(line.split("=", 1) for line in done.text.splitlines() if "=" in line)


def use_lease(guest: Namespace, lease: dict[str, str]) -> None:
    """Sets the guest's network as its DHCP client would."""

    def work(kernel: Kernel) -> None:
        link = kernel.need("eth0")
        kernel.add_address(link, ip_interface(f"{lease['ip']}/{lease['subnet']}"))
        kernel.add_route(link, Route(destination="0.0.0.0/0", gateway=lease["router"]))

    in_kernel(guest, work)


@dataclass
class Web:
    """A server that tells its visitors who they seem to be."""

    port: int
    visitors: list[str]


@asynccontextmanager
async def a_web_server(namespace: Namespace, host: str, port: int, text: str) -> AsyncIterator[Web]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = namespace.call(lambda: socket.create_server((host, port), family=family))
    web = Web(listener.getsockname()[1], [])

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        web.visitors.append(writer.get_extra_info("peername")[0])
        writer.write(f"HTTP/1.0 200 OK\r\n\r\n{text}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, sock=listener)
    async with server:
        yield web


async def fetch(namespace: Namespace, url: str, *, patience_s: float = 30) -> str | None:
    """What a web client in there reads; None if nobody answers."""
    target = urlsplit(url)

    def ask() -> str | None:
        client = HTTPConnection(target.hostname or "", target.port, timeout=patience_s)
        try:
            client.request("GET", "/")
            return client.getresponse().read().decode()
        except OSError:
            return None
        finally:
            client.close()

    return await namespace.run(ask)
