"""The links of a plan: made, compared, taken away again.

Each is brought from whatever state it is in to the planned one, and only what differs is touched: so
a second time changes nothing, and after a crash at any step the next time finishes the work.

The pod's own link is never deleted. Which one bears its name is told by another: while the link
moved aside exists, the bearer of the name is our dummy; before and after, it is the pod's link.
"""

from collections.abc import Collection, Iterable, Sequence
from ipaddress import ip_interface
from typing import assert_never

from kubevirt.host.net.errors import NetworkFailed
from kubevirt.host.net.kernel import Kernel, Seen
from kubevirt.virt.network.facts import PodLink
from kubevirt.virt.network.links import Bridge, Dummy, Link, MovedLink, Tap

_KINDS = {Bridge: ("bridge",), Tap: ("tun",), Dummy: ("dummy", "bridge")}
"""The kernel's words; the first is ours. See `Kernel.add_dummy` for the second of a dummy."""


def make(kernel: Kernel, link: Link) -> None:
    match link:
        case Bridge():
            _make_bridge(kernel, link)
        case Tap():
            _make_tap(kernel, link)
        case MovedLink():
            _move(kernel, link)
        case Dummy():
            _make_dummy(kernel, link)
        case _:
            assert_never(link)


def differences(kernel: Kernel, link: Link) -> tuple[str, ...]:
    """What of a link is not as planned, in words."""
    found = kernel.find(link.name)
    if found is None:
        return (f"there is no link {link.name}",)
    if not isinstance(link, MovedLink) and found.kind not in _KINDS[type(link)]:
        return (f"the link {link.name} is a {found.kind}, not a {_KINDS[type(link)][0]}",)
    return tuple(_unlike(kernel, link, found))


def _unlike(kernel: Kernel, link: Link, found: Seen) -> Iterable[str]:
    if not isinstance(link, Tap) and found.mac != link.mac:
        yield f"{link.name} has the MAC address {found.mac}, not {link.mac}"
    if not isinstance(link, MovedLink) and found.mtu != link.mtu:
        yield f"{link.name} has the MTU {found.mtu}, not {link.mtu}"
    if not isinstance(link, Tap):
        yield from _unlike_addresses(kernel, found, getattr(link, "addresses", ()))
    if isinstance(link, Tap | MovedLink):
        bridge = kernel.find(link.bridge)
        if bridge is None or found.bridge != bridge.index:
            yield f"{link.name} is not on the bridge {link.bridge}"
    if isinstance(link, MovedLink) and found.learning not in (None, link.learning):
        yield f"the bridge {link.bridge} {'learns' if found.learning else 'does not learn'} addresses from {link.name}"
    if isinstance(link, Tap) and not _is_tap_of(link, found):
        yield f"the tap {link.name} has another owner or other queues than planned"
    if isinstance(link, Bridge) and kernel.sends_unfinished_checksums(found) != link.tx_checksum:
        yield f"{link.name} leaves checksums to hardware"
    if not found.is_up:
        yield f"{link.name} is down"


def _unlike_addresses(kernel: Kernel, found: Seen, planned: Sequence[str]) -> Iterable[str]:
    there = set(kernel.addresses(found))
    wanted = set(map(ip_interface, planned))
    yield from (
        f"{found.name} lacks the address {each}" for each in sorted(wanted - there, key=str)
    )
    yield from (
        f"{found.name} has the address {each}, which nobody planned"
        for each in sorted(there - wanted, key=str)
    )


def _make_bridge(kernel: Kernel, link: Bridge) -> None:
    found = _own(kernel, link) or kernel.add_bridge(link.name, mac=link.mac)
    _make_alike(kernel, found, mac=link.mac, mtu=link.mtu)
    if kernel.sends_unfinished_checksums(found) != link.tx_checksum:
        kernel.set_unfinished_checksums(found, on=link.tx_checksum)
    _address(kernel, found, link.addresses)
    _up(kernel, found)


def _make_dummy(kernel: Kernel, link: Dummy) -> None:
    found = _own(kernel, link) or kernel.add_dummy(link.name, mac=link.mac)
    _make_alike(kernel, found, mac=link.mac, mtu=link.mtu)
    _address(kernel, found, link.addresses)
    _up(kernel, found)


def _make_tap(kernel: Kernel, link: Tap) -> None:
    found = _own(kernel, link)
    if found is not None and not _is_tap_of(link, found):
        kernel.delete(found)  # owner and queues are settled when a tap is made
        found = None
    if found is None:
        found = kernel.add_tap(link.name, owner=link.owner, multi_queue=link.queues > 0)
    _make_alike(kernel, found, mac=None, mtu=link.mtu)
    _attach(kernel, found, link.bridge)
    _up(kernel, found)


def _move(kernel: Kernel, link: MovedLink) -> None:
    found = kernel.find(link.name)
    if found is None:
        found = kernel.need(link.original)
        if found.is_up:
            kernel.set_down(found)
        found = kernel.rename(found, link.name)
    if found.mac != link.mac:
        # Some drivers take another MAC address only while they are down.
        if found.is_up:
            kernel.set_down(found)
        kernel.set_mac(found, link.mac)
    _address(kernel, found, ())
    _attach(kernel, found, link.bridge)
    found = kernel.need(link.name)
    if found.learning != link.learning:
        kernel.set_learning(found, on=link.learning)
    _up(kernel, found)


def delete(kernel: Kernel, name: str, kinds: Collection[str]) -> None:
    """A link of ours. One by that name that is of another kind is somebody else's, and stays."""
    found = kernel.find(name)
    if found is not None and found.kind in kinds:
        kernel.delete(found)


def move_back(kernel: Kernel, moved: MovedLink, restores: PodLink) -> None:
    """Gives the pod its link back, as it was found. The bridge and the dummy are gone by now."""
    found = kernel.find(moved.name) or kernel.find(restores.name)
    if found is None:
        return  # the pod's network went away with its other end
    if found.bridge is not None:
        kernel.detach(found)
    if found.name != restores.name or found.mac != restores.mac:
        if kernel.need(found.name).is_up:
            kernel.set_down(found)
        if found.mac != restores.mac:
            kernel.set_mac(found, restores.mac)
        if found.name != restores.name:
            found = kernel.rename(found, restores.name)
    _up(kernel, kernel.need(found.name))
    _address(kernel, found, restores.addresses)
    _restore_routes(kernel, found, restores)


def _restore_routes(kernel: Kernel, found: Seen, restores: PodLink) -> None:
    there = set(kernel.routes(found))
    missing = [route for route in restores.routes if route not in there]
    for route in sorted(missing, key=lambda route: route.gateway is not None):
        kernel.add_route(found, route)


def kinds_of(links: Iterable[Link]) -> dict[str, tuple[str, ...]]:
    """The kernel's words for each link that is ours, by name."""
    return {link.name: _KINDS[type(link)] for link in links if not isinstance(link, MovedLink)}


def _own(kernel: Kernel, link: Bridge | Tap | Dummy) -> Seen | None:
    found = kernel.find(link.name)
    if found is not None and found.kind not in _KINDS[type(link)]:
        raise NetworkFailed(
            f"a {_KINDS[type(link)][0]} {link.name} is to be made, but there is a link by that name of"
            f" another kind ({found.kind or 'hardware'}); remove or rename it"
        )
    return found


def _is_tap_of(link: Tap, found: Seen) -> bool:
    tap = found.tap
    return (
        tap is not None
        and tap.owner == link.owner
        and tap.group == link.owner
        and tap.multi_queue == (link.queues > 0)
    )


def _make_alike(kernel: Kernel, found: Seen, *, mac: str | None, mtu: int) -> None:
    if mac is not None and found.mac != mac:
        kernel.set_mac(found, mac)
    if found.mtu != mtu:
        kernel.set_mtu(found, mtu)


def _attach(kernel: Kernel, found: Seen, name: str) -> None:
    bridge = kernel.need(name)
    if found.bridge != bridge.index:
        kernel.attach(found, bridge)


def _address(kernel: Kernel, found: Seen, planned: Sequence[str]) -> None:
    there = set(kernel.addresses(found))
    wanted = [ip_interface(each) for each in planned]
    for address in there.difference(wanted):
        kernel.remove_address(found, address)
    for address in wanted:
        if address not in there:
            kernel.add_address(found, address)


def _up(kernel: Kernel, found: Seen) -> None:
    if not found.is_up:
        kernel.set_up(found)
