"""A network for a guest without a cluster: a namespace of its own with a way out.

    async with home(folder) as found:
        facts = await read_pod(found.namespace, found.resolver)

It looks like a pod: a link `eth0` with an address and a default route. Its other end is on the
machine, whose nftables hide it behind the machine's address, in a table of our own.

What is the machine's stays as it is, with one exception that is told and undone: links that must
carry the guest's packets get their forwarding switched on, each by itself, if it is off. The switch
for the whole machine is not touched. IPv6 goes out only where the machine forwards it already, since
switching that on can cost the machine its own address.

The namespace has no name, so it ends with its last process. Whatever else an owner leaves behind when
it is killed, the next home cleans up: see `home_records`.
"""

import secrets
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from ipaddress import IPv4Network, IPv6Network, ip_interface, ip_network
from pathlib import Path
from typing import Final

from kubevirt.base.log import Logger, get_logger
from kubevirt.host.net import home_records, home_rules, nft, resolver
from kubevirt.host.net.home_records import Record, Records
from kubevirt.host.net.kernel import Kernel, Seen
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.private_range import free_ipv4, unique_ipv6
from kubevirt.host.net.resolver import Resolver
from kubevirt.virt.network.addresses import DEFAULT_IPV4
from kubevirt.virt.network.facts import Route
from kubevirt.virt.network.names import PRIMARY_LINK

FOLDER: Final = Path("/run/kubevirt/homes")
LINK_PREFIX: Final = "k6h-"
_RESOLVERS: Final = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))

_log = get_logger("host.net.home")


@dataclass(frozen=True, slots=True)
class Home:
    namespace: Namespace
    address: str
    """Of the guest's pod, as the machine reaches it."""
    resolver: Resolver
    notes: tuple[str, ...]
    """What a user should know, in words."""
    lock: int
    """Descriptor of the lock that tells that its owner lives. An owner that becomes another program has
    it inherited, and calls `clean_up` in the end.
    """


@asynccontextmanager
async def home(
    folder: Path = FOLDER,
    *,
    machine: Namespace | None = None,
    inside: Namespace | None = None,
    resolver_files: Sequence[Path] = _RESOLVERS,
    avoid: Iterable[str] = (),
    log: Logger = _log,
) -> AsyncIterator[Home]:
    """Networks in `avoid` are the guest's own; the home's is another.

    `inside` is a new namespace of the caller's, in which programs may be starting already.
    """
    names, without_names = _resolver(resolver_files)
    taken = (DEFAULT_IPV4, *avoid, *names.nameservers)
    made: list[_Made] = []  # outlives a cancellation in the middle of making it
    with _or_new(inside) as namespace, _or_own(machine) as outside:
        try:
            await outside.run(lambda: made.append(_make(folder, namespace, taken)))
            await namespace.run(lambda: _furnish(made[0]))
            notes = (*made[0].notes, *without_names)
            for note in notes:
                log.info("network of the home", note=note, link=made[0].record.link)
            yield Home(namespace, str(made[0].networks[0][2]), names, notes, made[0].lock.fileno())
        finally:
            if made:
                await outside.run(lambda: _unmake(folder, made[0]))


async def clean_up(folder: Path = FOLDER, machine: Namespace | None = None) -> tuple[str, ...]:
    """Takes away what dead owners left; every new home does it too. Tells what was changed."""

    def work() -> tuple[str, ...]:
        with home_records.locked(folder) as records, Kernel() as kernel:
            _clean_up(kernel, records)
            return tuple(kernel.journal.changes)

    with _or_own(machine) as outside:
        return await outside.run(work)


@contextmanager
def _or_new(given: Namespace | None) -> Iterator[Namespace]:
    if given is not None:
        yield given
        return
    with Namespace.new("network namespace of a home") as new:
        yield new


@contextmanager
def _or_own(given: Namespace | None) -> Iterator[Namespace]:
    if given is not None:
        yield given
        return
    with Namespace.current() as own:
        yield own


@dataclass(frozen=True, slots=True)
class _Made:
    record: Record
    lock: FileIO
    networks: tuple[IPv4Network | IPv6Network, ...]
    mtu: int
    notes: tuple[str, ...]


def _make(folder: Path, namespace: Namespace, taken: Sequence[str]) -> _Made:
    """The machine's side. Decided, written down, then done."""
    with home_records.locked(folder) as records, Kernel() as kernel:
        _clean_up(kernel, records)
        uplinks = _uplinks(kernel)
        networks = _networks(kernel, taken)
        record, lock = _recorded(kernel, records, uplinks, networks)
        try:
            mtu = min((link.mtu for link in uplinks), default=1500)
            _lay_cable(kernel, record, namespace, networks, mtu)
            for name in record.forwarders:
                _forward(kernel, name)
            kernel.journal.note(f"load the nftables rules of {record.link}")
            nft.apply(home_rules.rules(record.table, record.link, record.sources))
        except BaseException:
            _take_away(kernel, records, record)
            lock.close()
            raise
        return _Made(record, lock, networks, mtu, tuple(_notes(uplinks, record)))


def _unmake(folder: Path, made: _Made) -> None:
    with home_records.locked(folder) as records, Kernel() as kernel:
        _take_away(kernel, records, made.record)
    made.lock.close()


def _recorded(
    kernel: Kernel,
    records: Records,
    uplinks: Sequence[Seen],
    networks: Sequence[IPv4Network | IPv6Network],
) -> tuple[Record, FileIO]:
    identity = secrets.token_hex(4)
    ours = {name for other in records.all() for name in other.forwarders}
    record = Record(
        id=identity,
        link=f"{LINK_PREFIX}{identity}",
        table=f"kubevirt-home-{identity}",
        sources={_family(network): str(network) for network in networks},
        forwarders=tuple(
            link.name
            for link in uplinks
            if link.name in ours or kernel.setting(_forwarding(link.name)) == "0"
        ),
    )
    return record, records.add(record)


def _clean_up(kernel: Kernel, records: Records) -> None:
    for record in records.orphans():
        kernel.journal.note(f"clean up after the dead owner of {record.link}")
        _take_away(kernel, records, record)


def _take_away(kernel: Kernel, records: Records, record: Record) -> None:
    """In the order in which nothing is open to strangers meanwhile."""
    if (link := kernel.find(record.link)) is not None:
        kernel.delete(link)
    nft.apply(home_rules.without(record.table, record.sources))
    records.remove(record)
    still_needed = {name for other in records.all() for name in other.forwarders}
    # If the whole machine forwards by now, somebody else has switched that on for himself.
    if kernel.setting("net/ipv4/ip_forward") == "0":
        for name in set(record.forwarders) - still_needed:
            if kernel.setting(_forwarding(name)) == "1":
                kernel.set_setting(_forwarding(name), "0")


def _lay_cable(
    kernel: Kernel,
    record: Record,
    namespace: Namespace,
    networks: Sequence[IPv4Network | IPv6Network],
    mtu: int,
) -> None:
    link = kernel.add_veth(record.link, peer=PRIMARY_LINK, peer_namespace=namespace.fd)
    kernel.set_mtu(link, mtu)
    for network in networks:
        kernel.add_address(link, ip_interface(f"{network[1]}/{network.prefixlen}"))
    _forward(kernel, record.link)
    kernel.set_up(link)


def _furnish(made: _Made) -> None:
    """The inside, which looks like a pod."""
    with Kernel() as kernel:
        kernel.set_up(kernel.need("lo"))
        link = kernel.need(PRIMARY_LINK)
        kernel.set_mtu(link, made.mtu)
        for network in made.networks:
            kernel.add_address(link, ip_interface(f"{network[2]}/{network.prefixlen}"))
        kernel.set_up(link)
        for network in made.networks:
            anywhere = "0.0.0.0/0" if network.version == 4 else "::/0"
            kernel.add_route(link, Route(destination=anywhere, gateway=str(network[1])))


def _uplinks(kernel: Kernel) -> tuple[Seen, ...]:
    """Links by which the machine reaches anything; answers come in by them."""
    used = {
        index
        for destination, index in kernel.route_destinations()
        if ip_network(destination).version == 4
    }
    return tuple(
        link
        for link in kernel.links()
        if link.index in used and link.name != "lo" and not link.name.startswith(LINK_PREFIX)
    )


def _networks(kernel: Kernel, taken: Sequence[str]) -> tuple[IPv4Network | IPv6Network, ...]:
    routes = [destination for destination, _ in kernel.route_destinations()]
    addresses = [str(address.network) for address in kernel.addresses()]
    seed = secrets.token_hex(8)
    ipv4 = free_ipv4((*taken, *routes, *addresses), seed)
    forwards_ipv6 = kernel.setting("net/ipv6/conf/all/forwarding") == "1"
    return (ipv4, unique_ipv6(seed)) if forwards_ipv6 and "::/0" in routes else (ipv4,)


def _forward(kernel: Kernel, link: str) -> None:
    """Answers come in by an uplink and leave by the cable, so both must let packets through."""
    if kernel.setting(_forwarding(link)) != "1":
        kernel.set_setting(_forwarding(link), "1")


def _forwarding(link: str) -> str:
    return f"net/ipv4/conf/{link}/forwarding"


def _family(network: IPv4Network | IPv6Network) -> str:
    return "ip" if network.version == 4 else "ip6"


def _notes(uplinks: Sequence[Seen], record: Record) -> Iterable[str]:
    if not uplinks:
        yield "this machine has no route to anywhere, so the guest reaches the machine only"
    if record.forwarders:
        yield (
            f"IPv4 forwarding is switched on for {', '.join(record.forwarders)} while the guest "
            f"runs, and off again afterwards"
        )
    if guard := nft.chain_that_drops("forward", spare=record.table):
        yield (
            f"the machine's own firewall (nftables chain {guard}) drops forwarded packets; if the "
            f"guest does not get out, allow those from and to {LINK_PREFIX}* there"
        )


def _resolver(files: Sequence[Path]) -> tuple[Resolver, tuple[str, ...]]:
    """The machine's name servers that can be reached from elsewhere than the machine itself."""
    for file in files:
        with suppress(OSError):
            found = resolver.parse(file.read_text(encoding="utf-8", errors="replace"))
            if found.is_reachable:
                return found.without_loopback(), ()
    return Resolver(), (
        "this machine's name servers answer on its own loopback only, so the guest cannot ask them",
    )
