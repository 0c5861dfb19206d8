"""Ports of a network card that are let through to the guest."""

from typing import Final

from kubevirt.api.interfaces import Interface, Port, PortRange
from kubevirt.virt.gates import PORT_RANGES
from kubevirt.virt.validate.causes import Causes, duplicate, invalid, required
from kubevirt.virt.validate.labels import label_trouble
from kubevirt.virt.validate.rules import Rules

LAST: Final = 65535
NAME_LIMIT: Final = 15
PROTOCOLS: Final = ("TCP", "UDP")


def port_causes(interface: Interface, at: str, names: set[str], rules: Rules) -> Causes:
    """`names` are those of the cards before: ports of all cards are ports of one pod."""
    seen: set[str] = set()
    for index, port in enumerate(interface.ports):
        here = f"{at}.ports[{index}]"
        yield from _port(port, here)
        if not port.name:
            continue
        if port.name in seen or port.name in names:
            yield duplicate(f"{here}.name", f"Duplicate name of the port: {port.name[:NAME_LIMIT]}")
        seen.add(port.name)
    names |= seen
    if interface.port_ranges:
        yield from _ranges(interface, at, rules)


def _port(port: Port, here: str) -> Causes:
    if not port.port:
        yield required(here, "Port field is mandatory.")
    elif not 0 < port.port <= LAST:
        yield invalid(here, "Port field must be in range 0 < x < 65536.")
    yield from _protocol(port.protocol, here)
    if port.name and (len(port.name) > NAME_LIMIT or label_trouble(port.name)):
        yield invalid(
            f"{here}.name",
            f"Invalid name of the port: use at most {NAME_LIMIT} lower case letters, digits and "
            f"dashes",
        )


def _protocol(protocol: str | None, here: str) -> Causes:
    if protocol and protocol not in PROTOCOLS:
        yield invalid(f"{here}.protocol", "Unknown protocol, only TCP or UDP allowed")


def _ranges(interface: Interface, at: str, rules: Rules) -> Causes:
    here = f"{at}.portRanges"
    if not rules.gate(PORT_RANGES):
        yield invalid(here, "PortRangesSpec feature gate is not enabled")
    if interface.ports:
        yield invalid(here, f"{at} has both ports and portRanges; keep one of them")
    if interface.masquerade is None:
        yield invalid(here, f"{here} is only allowed with the masquerade binding")
    for index, each in enumerate(interface.port_ranges):
        yield from _range(each, f"{here}[{index}]")


def _range(each: PortRange, here: str) -> Causes:
    for name, number in (("start", each.start), ("end", each.end)):
        if not 0 < number <= LAST:
            yield invalid(f"{here}.{name}", "Port field must be in range 0 < x < 65536.")
    if each.end < each.start:
        yield invalid(here, f"the port range {each.start} to {each.end} ends before it starts")
    yield from _protocol(each.protocol or "none", here)
