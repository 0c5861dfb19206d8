"""Links, addresses, routes and settings of the calling thread's network namespace.

    def work() -> tuple[str, ...]:
        with Kernel() as kernel:
            return kernel.addresses(kernel.need("eth0"))

    await namespace.run(work)

Everything here is one small step: look at one thing, or change one thing. Each change is told to the
journal first. What to do in which order is decided by callers.
"""

import errno
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface, ip_network
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from kubevirt.host.net import checksum
from kubevirt.host.net.errors import NetworkFailed, refused
from kubevirt.host.net.journal import Journal
from kubevirt.host.net.netlink import open_route_socket, os_errors
from kubevirt.virt.network.facts import Route

Interface = IPv4Interface | IPv6Interface

_IFF_UP: Final = 1
_IFA_F_NODAD: Final = 2
_MAIN_TABLE: Final = 254
_UNICAST: Final = 1
_UNREACHABLE: Final = (errno.ENETUNREACH, errno.EHOSTUNREACH)
_RTNH_F_ONLINK: Final = 4
_SETTINGS: Final = Path("/proc/sys")


@dataclass(frozen=True, slots=True)
class TapSettings:
    owner: int | None
    group: int | None
    multi_queue: bool
    vnet_hdr: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """A link as it is now."""

    index: int
    name: str
    kind: str | None
    """`bridge`, `dummy`, `tun`, `veth`, …; None for hardware."""
    mac: str
    mtu: int
    is_up: bool
    bridge: int | None
    """Index of the bridge it is on."""
    learning: bool | None = None
    """Whether that bridge learns addresses from it."""
    tap: TapSettings | None = None


class Kernel:
    """An open netlink socket and what goes with it. Used and closed in the thread that made it."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.journal = journal or Journal()
        self._route = open_route_socket()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._route.close()

    # Looking

    def find(self, name: str) -> Seen | None:
        try:
            with os_errors():
                found = list(self._route.link("get", ifname=name))
        except OSError as error:
            if error.errno == errno.ENODEV:
                return None
            raise refused(f"looking for the link {name}", error.errno) from None
        return _seen(found[0]) if found else None

    def need(self, name: str) -> Seen:
        if (found := self.find(name)) is None:
            raise NetworkFailed(f"there is no link {name}")
        return found

    def links(self) -> tuple[Seen, ...]:
        return tuple(_seen(each) for each in self._route.get_links())

    def addresses(self, link: Seen | None = None) -> tuple[Interface, ...]:
        """With prefix lengths; of one link or of all. Link-local IPv6 is the kernel's own matter."""
        found = self._route.get_addr(**({"index": link.index} if link else {}))
        all_of_them = (
            ip_interface(f"{each.get('local') or each.get('address')}/{each['prefixlen']}")
            for each in found
        )
        return tuple(each for each in all_of_them if not _is_the_kernels(each))

    def routes(self, link: Seen) -> tuple[Route, ...]:
        """Of the main table, in the kernel's order: the narrowest of a family come last."""
        return tuple(
            route
            for family in (socket.AF_INET, socket.AF_INET6)
            for each in self._route.get_routes(family=family, table=_MAIN_TABLE)
            if each["type"] == _UNICAST and each.get("oif") == link.index
            for route in [_route(each, family)]
            if not ip_network(route.destination).is_link_local
        )

    def route_destinations(self) -> tuple[tuple[str, int], ...]:
        """Of all tables: where the machine can reach without its default route, and by which link."""
        return tuple(
            (_destination(each, family), each.get("oif") or 0)
            for family in (socket.AF_INET, socket.AF_INET6)
            for each in self._route.get_routes(family=family)
            if each["type"] == _UNICAST
        )

    def sends_unfinished_checksums(self, link: Seen) -> bool:
        with _told(f"asking {link.name} for its checksums"):
            return checksum.sends_unfinished_checksums(link.name)

    def setting(self, key: str) -> str | None:
        """A sysctl by its path below /proc/sys; None where the kernel has none by that name."""
        try:
            return (_SETTINGS / key).read_text(encoding="ascii").strip()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise refused(f"reading the setting {key}", error.errno) from None

    # Making links

    def add_bridge(self, name: str, *, mac: str) -> Seen:
        with self._change(f"make bridge {name}"):
            self._route.link("add", ifname=name, kind="bridge", address=mac)
        return self.need(name)

    def add_dummy(self, name: str, *, mac: str) -> Seen:
        """Where the kernel has no such driver, a bridge with nothing on it serves as well."""
        with self._change(f"make dummy {name}"):
            try:
                with os_errors():
                    self._route.link("add", ifname=name, kind="dummy", address=mac)
            except OSError as error:
                if error.errno != errno.EOPNOTSUPP:
                    raise
                self._route.link("add", ifname=name, kind="bridge", address=mac)
        return self.need(name)

    def add_tap(self, name: str, *, owner: int, multi_queue: bool) -> Seen:
        """Persistent, and to be opened by its owner without any capability."""
        flags = {"no_pi": 1, "one_queue": 0, "vnet_hdr": 1, "multi_queue": int(multi_queue)}
        with self._change(f"make tap {name} for user {owner}"):
            self._route.link(
                "add", ifname=name, kind="tuntap", mode="tap", uid=owner, gid=owner, ifr=flags
            )
        return self.need(name)

    def add_veth(
        self,
        name: str,
        *,
        peer: str,
        peer_namespace: int,
        peer_mac: str | None = None,
        mtu: int | None = None,
    ) -> Seen:
        """A cable whose other end is in the namespace of that descriptor."""
        size = {} if mtu is None else {"mtu": mtu}
        address = {} if peer_mac is None else {"address": peer_mac}
        other = {"ifname": peer, "net_ns_fd": peer_namespace, **size, **address}
        with self._change(f"make veth {name} with its other end {peer}"):
            self._route.link("add", ifname=name, kind="veth", peer=other, **size)
        return self.need(name)

    def delete(self, link: Seen) -> None:
        with self._change(f"delete {link.name}"):
            self._route.link("del", index=link.index)

    # Changing links

    def set_up(self, link: Seen) -> None:
        with self._change(f"set {link.name} up"):
            self._route.link("set", index=link.index, state="up")

    def set_down(self, link: Seen) -> None:
        with self._change(f"set {link.name} down"):
            self._route.link("set", index=link.index, state="down")

    def set_mac(self, link: Seen, mac: str) -> None:
        with self._change(f"give {link.name} the MAC address {mac}"):
            self._route.link("set", index=link.index, address=mac)

    def set_mtu(self, link: Seen, mtu: int) -> None:
        with self._change(f"give {link.name} the MTU {mtu}"):
            self._route.link("set", index=link.index, mtu=mtu)

    def rename(self, link: Seen, name: str) -> Seen:
        """The link must be down: kernels before 6.2 ask for it."""
        with self._change(f"rename {link.name} to {name}"):
            self._route.link("set", index=link.index, ifname=name)
        return self.need(name)

    def attach(self, link: Seen, bridge: Seen) -> None:
        with self._change(f"put {link.name} on {bridge.name}"):
            self._route.link("set", index=link.index, master=bridge.index)

    def detach(self, link: Seen) -> None:
        with self._change(f"take {link.name} from its bridge"):
            self._route.link("set", index=link.index, master=0)

    def set_learning(self, link: Seen, *, on: bool) -> None:
        with self._change(f"{'let' if on else 'keep'} {link.name}'s bridge {_learning(on=on)}"):
            self._route.brport("set", index=link.index, learning=int(on))

    def set_unfinished_checksums(self, link: Seen, *, on: bool) -> None:
        with self._change(f"switch {link.name}'s checksum offloading {'on' if on else 'off'}"):
            checksum.set_unfinished_checksums(link.name, on=on)

    # Addresses, routes, settings

    def add_address(self, link: Seen, address: Interface) -> None:
        """Without waiting for somebody else to claim an IPv6 address: we are told which are ours."""
        flags = {"flags": _IFA_F_NODAD} if address.version == 6 else {}
        with self._change(f"give {link.name} the address {address}"):
            self._route.addr(
                "replace",
                index=link.index,
                address=str(address.ip),
                prefixlen=address.network.prefixlen,
                **flags,
            )

    def remove_address(self, link: Seen, address: Interface) -> None:
        with self._change(f"take the address {address} from {link.name}"):
            self._route.addr(
                "del",
                index=link.index,
                address=str(address.ip),
                prefixlen=address.network.prefixlen,
            )

    def add_route(self, link: Seen, route: Route, *, source: str | None = None) -> None:
        """A gateway that no route reaches is on the link: some CNI plugins have it so. `source` is the
        address that the machine sends from by it.
        """
        extra = {"prefsrc": source} if source else {}
        with self._change(f"route {route.destination} by {link.name}"):
            try:
                with os_errors():
                    self._add_route(link, route, **extra)
            except OSError as error:
                if route.gateway is None or error.errno not in _UNREACHABLE:
                    raise
                self._add_route(link, route, **extra, flags=_RTNH_F_ONLINK)

    def _add_route(self, link: Seen, route: Route, **extra: int | str) -> None:
        gateway = {"gateway": route.gateway} if route.gateway else {"scope": 253}
        family = socket.AF_INET if ip_network(route.destination).version == 4 else socket.AF_INET6
        self._route.route(
            "replace", family=family, dst=route.destination, oif=link.index, **gateway, **extra
        )

    def set_setting(self, key: str, value: str) -> None:
        with self._change(f"set {key} to {value}"):
            (_SETTINGS / key).write_text(value, encoding="ascii")

    @contextmanager
    def _change(self, what: str) -> Iterator[None]:
        """Told, done, and explained if it fails."""
        self.journal.note(what)
        with _told(f"the change “{what}”"):
            yield


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        with os_errors():
            yield
    except OSError as error:
        raise refused(what, error.errno) from None


def _learning(*, on: bool) -> str:
    return "learn addresses" if on else "from learning addresses"


def _is_the_kernels(address: Interface) -> bool:
    return address.version == 6 and address.is_link_local


def _seen(link: Any) -> Seen:
    kind = link.get(("linkinfo", "kind"))
    return Seen(
        index=link["index"],
        name=link.get("ifname"),
        kind=kind,
        mac=link.get("address") or "",
        mtu=link.get("mtu") or 0,
        is_up=bool(link["flags"] & _IFF_UP),
        bridge=link.get("master"),
        learning=_is_learning(link),
        tap=_tap(link) if kind == "tun" else None,
    )


def _is_learning(link: Any) -> bool | None:
    if link.get(("linkinfo", "slave_kind")) != "bridge":
        return None
    return bool(link.get_nested("IFLA_LINKINFO", "IFLA_INFO_SLAVE_DATA", "IFLA_BRPORT_LEARNING"))


def _tap(link: Any) -> TapSettings:
    def attribute(name: str) -> Any:
        return link.get_nested("IFLA_LINKINFO", "IFLA_INFO_DATA", f"IFLA_TUN_{name}")

    return TapSettings(
        owner=attribute("OWNER"),
        group=attribute("GROUP"),
        multi_queue=bool(attribute("MULTI_QUEUE")),
        vnet_hdr=bool(attribute("VNET_HDR")),
    )


def _route(message: Any, family: int) -> Route:
    gateway = message.get("gateway")
    return Route(
        destination=_destination(message, family),
        gateway=str(ip_address(gateway)) if gateway else None,
    )


def _destination(message: Any, family: int) -> str:
    anywhere = "0.0.0.0" if family == socket.AF_INET else "::"  # noqa: S104  # a route, no listener
    return str(ip_network(f"{message.get('dst') or anywhere}/{message['dst_len']}"))
