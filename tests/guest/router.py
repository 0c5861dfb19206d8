"""The other end of a guest's network card: a router that says "ask DHCPv6", and that DHCPv6 server.

QEMU's own user network has no stateful DHCPv6. This one knows just enough of it: frames come and go
as datagrams on loopback, and whatever is neither a router solicitation, a neighbour solicitation nor
DHCPv6 is dropped.
"""

import asyncio
import contextlib
import ipaddress
import socket
import struct
from collections.abc import AsyncIterator
from typing import Self

_MAC = bytes.fromhex("525400fffffe")
_ADDRESS = ipaddress.IPv6Address("fe80::5054:ff:feff:fffe").packed
_ALL_NODES = ipaddress.IPv6Address("ff02::1").packed
_ALL_NODES_MAC = bytes.fromhex("333300000001")
_IPV6, _ICMP6, _UDP = 0x86DD, 58, 17
_ROUTER_SOLICITATION, _ROUTER_ADVERTISEMENT = 133, 134
_NEIGHBOUR_SOLICITATION, _NEIGHBOUR_ADVERTISEMENT = 135, 136
_SOLICIT, _ADVERTISE, _REPLY = 1, 2, 7
_CLIENT_ID, _SERVER_ID, _IA_NA, _IA_ADDRESS, _DNS = 1, 2, 3, 5, 23
_SERVER = struct.pack("!HH", 3, 1) + _MAC
_LIFETIME_S = 3600


class Router(asyncio.DatagramProtocol):
    def __init__(self, address: str, name_server: str) -> None:
        self._address = ipaddress.IPv6Address(address).packed
        self._name_server = ipaddress.IPv6Address(name_server).packed
        self._transport: asyncio.DatagramTransport | None = None
        self._port = 0
        self._guest_port = 0

    @classmethod
    @contextlib.asynccontextmanager
    async def start(cls, *, address: str, name_server: str) -> AsyncIterator[Self]:
        loop = asyncio.get_running_loop()
        transport, router = await loop.create_datagram_endpoint(
            lambda: cls(address, name_server), local_addr=("127.0.0.1", 0)
        )
        router._transport = transport
        router._port = transport.get_extra_info("sockname")[1]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            router._guest_port = probe.getsockname()[1]
        try:
            yield router
        finally:
            transport.close()

    def card(self) -> list[str]:
        """QEMU's words for a card that is plugged into this router."""
        ends = f"udp=127.0.0.1:{self._port},localaddr=127.0.0.1:{self._guest_port}"
        return ["-netdev", f"socket,id=net,{ends}", "-device", "virtio-net-pci,netdev=net"]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        if len(data) < 54 or struct.unpack_from("!H", data, 12)[0] != _IPV6:
            return
        guest_mac, kind = data[6:12], data[20]
        source, payload = data[22:38], data[54:]
        if kind == _ICMP6 and payload[0] == _ROUTER_SOLICITATION:
            self._send(_ALL_NODES_MAC, _ALL_NODES, _ICMP6, self._advertisement())
        elif kind == _ICMP6 and payload[0] == _NEIGHBOUR_SOLICITATION and payload[8:24] == _ADDRESS:
            answer = struct.pack("!BBHI", _NEIGHBOUR_ADVERTISEMENT, 0, 0, 0xE0000000)
            self._send(guest_mac, source, _ICMP6, answer + _ADDRESS + b"\x02\x01" + _MAC)
        elif kind == _UDP and struct.unpack_from("!H", payload, 2)[0] == 547:
            body = self._dhcp_answer(payload[8:])
            header = struct.pack("!HHHH", 547, 546, 8 + len(body), 0)
            self._send(guest_mac, source, _UDP, header + body)

    @staticmethod
    def _advertisement() -> bytes:
        managed = 0xC0
        return (
            struct.pack("!BBHBBHII", _ROUTER_ADVERTISEMENT, 0, 0, 64, managed, 1800, 0, 0)
            + b"\x01\x01"
            + _MAC
        )

    def _dhcp_answer(self, request: bytes) -> bytes:
        kind = _ADVERTISE if request[0] == _SOLICIT else _REPLY
        asked = _options(request[4:])
        address = _option(_IA_ADDRESS, self._address + struct.pack("!II", _LIFETIME_S, _LIFETIME_S))
        association = asked[_IA_NA][:4] + struct.pack("!II", _LIFETIME_S, _LIFETIME_S) + address
        return (
            bytes([kind])
            + request[1:4]
            + _option(_CLIENT_ID, asked[_CLIENT_ID])
            + _option(_SERVER_ID, _SERVER)
            + _option(_IA_NA, association)
            + _option(_DNS, self._name_server)
        )

    def _send(self, mac: bytes, target: bytes, kind: int, payload: bytes) -> None:
        header = struct.pack("!IHBB", 6 << 28, len(payload), kind, 255) + _ADDRESS + target
        place = 2 if kind == _ICMP6 else 6
        pseudo = _ADDRESS + target + struct.pack("!II", len(payload), kind)
        total = _checksum(pseudo + payload)
        payload = payload[:place] + struct.pack("!H", total) + payload[place + 2 :]
        frame = mac + _MAC + struct.pack("!H", _IPV6) + header + payload
        if self._transport:
            self._transport.sendto(frame, ("127.0.0.1", self._guest_port))


def _option(code: int, content: bytes) -> bytes:
    return struct.pack("!HH", code, len(content)) + content


def _options(raw: bytes) -> dict[int, bytes]:
    found = {}
    while raw:
        code, size = struct.unpack_from("!HH", raw)
        found[code] = raw[4 : 4 + size]
        raw = raw[4 + size :]
    return found


def _checksum(raw: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(raw) // 2}H", raw[: len(raw) // 2 * 2]))
    if len(raw) % 2:
        total += raw[-1] << 8
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
