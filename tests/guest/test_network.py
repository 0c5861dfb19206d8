"""Addresses from DHCP, router advertisements and seeds; every network card; ssh."""

import asyncio
import socket
from pathlib import Path

import pytest
from tests.guest import seeds
from tests.guest.machine import Machine, cdrom, disk
from tests.guest.router import Router

from guestimage import guests, image

pytestmark = pytest.mark.timeout(400)

OTHERS = ["virtio-net-pci-transitional", "e1000", "e1000e", "rtl8139", "pcnet", "ne2k_pci"]
"""Models of network cards, beside the usual one."""


def card(model: str = "virtio-net-pci", options: str = "") -> list[str]:
    """A network card on QEMU's user network, which answers DHCP and sends advertisements."""
    return ["-netdev", f"user,id=net{options}", "-device", f"{model},netdev=net"]


async def test_a_network_card_gets_its_addresses(images: image.Images, folder: Path) -> None:
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, more=card()) as machine:
        await machine.login()
        await machine.until("ip -4 address show eth0 | grep -q 10.0.2.15")
        await machine.until("ip -6 address show eth0 scope site | grep -q fec0:")
        assert "default via 10.0.2.2" in await machine.run("ip route")
        await machine.until("grep -q 'nameserver 10.0.2.3' /etc/resolv.conf")


async def test_every_other_model_of_network_card_gets_them_too(
    images: image.Images, folder: Path
) -> None:
    """All in one guest, each on a network of its own."""
    root = disk(images.raw(guests.CIRROS))
    more: list[str] = []
    for number, model in enumerate(OTHERS):
        more += ["-netdev", f"user,id=net{number},net=10.0.{100 + number}.0/24"]
        more += ["-device", f"{model},netdev=net{number},mac=52:54:00:00:00:0{number}"]
    async with Machine.start(folder, *root, more=more, memory="128M") as machine:
        await machine.login()
        for number, model in enumerate(OTHERS):
            found = await machine.run(f"grep -l 52:54:00:00:00:0{number} /sys/class/net/*/address")
            name = Path(found).parent.name
            assert name, model
            await machine.until(f"ip -4 address show {name} | grep -q 10.0.{100 + number}.15")
            await machine.until(f"ip -6 address show {name} scope site | grep -q fec0:")


async def test_the_name_that_dhcp_gives_is_taken(images: image.Images, folder: Path) -> None:
    root = disk(images.raw(guests.CIRROS))
    more = card(options=",hostname=from-dhcp")
    async with Machine.start(folder, *root, more=more) as machine:
        await machine.login()
        await machine.until("[ $(hostname) = from-dhcp ]")


async def test_a_stateful_dhcpv6_server_gives_the_address(
    images: image.Images, folder: Path
) -> None:
    root = disk(images.raw(guests.CIRROS))
    async with (
        Router.start(address="fd10:0:2::2", name_server="fd10:0:2::53") as router,
        Machine.start(folder, *root, more=router.card()) as machine,
    ):
        await machine.login()
        await machine.until("ip -6 address show eth0 | grep -q fd10:0:2::2/128", 30)
        assert "default via fe80::" in await machine.run("ip -6 route")
        await machine.until("grep -q 'nameserver fd10:0:2::53' /etc/resolv.conf")


async def test_network_version_2_sets_addresses_routes_and_names(
    images: image.Images, folder: Path
) -> None:
    seed = seeds.nocloud(
        folder,
        user_data="#cloud-config\n{}\n",
        network="""
version: 2
ethernets:
  first:
    match: {macaddress: "52:54:00:00:00:01"}
    mtu: 1400
    addresses: [192.0.2.10/24, "fd10:0:2::2/120"]
    gateway4: 192.0.2.1
    routes:
      - {to: 198.51.100.0/24, via: 192.0.2.2}
      - {to: "::/0", via: "fd10:0:2::1"}
    nameservers: {addresses: [192.0.2.53], search: [shore.example]}
  eth1: {dhcp4: true}
""",
    )
    more = [
        *("-netdev", "user,id=a", "-device", "virtio-net-pci,netdev=a,mac=52:54:00:00:00:01"),
        *("-netdev", "user,id=b", "-device", "virtio-net-pci,netdev=b"),
    ]
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed), more=more) as machine:
        await machine.login()
        addresses = await machine.run("ip address show eth0")
        for expected in ("mtu 1400", "192.0.2.10/24", "fd10:0:2::2/120"):
            assert expected in addresses
        routes = await machine.run("ip route; ip -6 route")
        for expected in (
            "default via 192.0.2.1",
            "198.51.100.0/24 via 192.0.2.2",
            "default via fd10:0:2::1",
        ):
            assert expected in routes
        resolv = await machine.run("cat /etc/resolv.conf")
        assert "nameserver 192.0.2.53\nsearch shore.example" in resolv
        await machine.until("ip -4 address show eth1 | grep -q 10.0.2.15")


async def test_network_version_1_is_understood(images: image.Images, folder: Path) -> None:
    seed = seeds.nocloud(
        folder,
        user_data="#cloud-config\n{}\n",
        network="""
version: 1
config:
  - type: physical
    name: eth0
    subnets:
      - {type: static, address: 192.0.2.10, netmask: 255.255.255.0, gateway: 192.0.2.1}
  - {type: nameserver, address: [192.0.2.53]}
""",
    )
    root = disk(images.raw(guests.CIRROS))
    async with Machine.start(folder, *root, *cdrom(seed), more=card()) as machine:
        await machine.login()
        assert "192.0.2.10/24" in await machine.run("ip -4 address show eth0")
        assert "default via 192.0.2.1" in await machine.run("ip route")
        assert "nameserver 192.0.2.53" in await machine.run("cat /etc/resolv.conf")


async def test_a_card_plugged_in_later_gets_its_address(images: image.Images, folder: Path) -> None:
    root = disk(images.raw(guests.CIRROS))
    more = ["-device", "pcie-root-port,id=free-slot", "-netdev", "user,id=net"]
    async with Machine.start(folder, *root, more=more) as machine:
        await machine.login()
        await machine.command("device_add", driver="virtio-net-pci", netdev="net", bus="free-slot")
        await machine.until("ip -4 address show eth0 2>/dev/null | grep -q 10.0.2.15")


async def test_a_key_of_the_seed_opens_ssh_and_no_other_does(
    images: image.Images, folder: Path
) -> None:
    await _ssh_keygen(folder / "good")
    await _ssh_keygen(folder / "bad")
    key = (folder / "good.pub").read_text().strip()
    seed = seeds.nocloud(
        folder, user_data=f"#cloud-config\nssh_pwauth: false\nssh_authorized_keys: ['{key}']\n"
    )
    port = _free_port()
    root = disk(images.raw(guests.CIRROS))
    more = card(options=f",hostfwd=tcp:127.0.0.1:{port}-:22")
    async with Machine.start(folder, *root, *cdrom(seed), more=more) as machine:
        await _until_online(machine)
        code, said = await _ssh(port, folder / "good", "sudo id -un; echo over ssh")
        assert (code, said) == (0, "root\nover ssh\n")
        code, _said = await _ssh(port, folder / "bad", "true")
        assert code == 255


async def test_the_known_password_opens_ssh_too(images: image.Images, folder: Path) -> None:
    answer = folder / "answer"
    answer.write_text("#!/bin/sh\necho gocubsgo\n")
    answer.chmod(0o700)
    port = _free_port()
    root = disk(images.raw(guests.CIRROS))
    more = card(options=f",hostfwd=tcp:127.0.0.1:{port}-:22")
    async with Machine.start(folder, *root, more=more) as machine:
        await _until_online(machine)
        code, said = await _ssh(port, answer, "id -un", by_password=True)
        assert (code, said) == (0, "cirros\n")


async def _until_online(machine: Machine) -> None:
    """A connection that is asked for earlier is lost, and tried again only seconds later; one to a server that does
    not listen yet is cut.
    """
    await machine.login()
    await machine.until("ip -4 address show eth0 | grep -q 10.0.2.15")
    await machine.until("netstat -ltn | grep -q ':22 '")


async def _ssh_keygen(path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path))
    )
    assert await process.wait() == 0


async def _ssh(
    port: int, secret: Path, command: str, *, by_password: bool = False
) -> tuple[int, str]:
    """Run a command over ssh; `secret` is a key, or a program that prints a password."""
    identity = ("-i", str(secret), "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes")
    process = await asyncio.create_subprocess_exec(
        *("ssh", "-F", "none", "-p", str(port), *(() if by_password else identity)),
        *("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"),
        *("-o", "ConnectTimeout=30", "-o", "LogLevel=ERROR", "cirros@127.0.0.1", command),
        stdout=asyncio.subprocess.PIPE,
        env={
            "PATH": "/usr/bin:/bin",
            "SSH_ASKPASS": str(secret),
            "SSH_ASKPASS_REQUIRE": "force" if by_password else "never",
        },
    )
    try:
        async with asyncio.timeout(60):
            out, _err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return process.returncode or 0, out.decode()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number
