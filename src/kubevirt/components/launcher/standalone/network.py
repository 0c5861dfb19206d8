"""The network of a guest without a cluster: a home with a way out, and the guest's links and DHCP in it."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.components.launcher.standalone.folders import LAUNCHER
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.errors import UnsupportedError, shown


class Network(msgspec.Struct, frozen=True, kw_only=True):
    cards: Mapping[str, InterfaceFacts]
    """By interface, for the domain."""
    address: str
    """Under which the machine reaches the guest."""
    servers: tuple[list[str], ...]
    """Commands that serve the guest's DHCP, to be kept running."""
    inherited: tuple[int, ...]
    """Descriptors that these commands need."""
    lock: int
    """Tells others that the network is in use."""
    notes: tuple[str, ...] = ()


def check(vmi: VirtualMachineInstance) -> None:
    """Refuses what only a cluster has."""
    for network in vmi.spec.networks:
        if network.pod is None:
            raise UnsupportedError(
                f"network {shown(network.name)} is one of a cluster (Multus); without a cluster "
                f"there is only the pod network: write pod: {{}}"
            )
    for interface in vmi.spec.domain.devices.interfaces:
        if not interface.masquerade and not interface.bridge:
            raise UnsupportedError(
                f"interface {shown(interface.name)} has a binding that only a cluster has; "
                f"write masquerade: {{}} or bridge: {{}}"
            )


def is_wanted(vmi: VirtualMachineInstance) -> bool:
    return bool(vmi.spec.domain.devices.interfaces)


@asynccontextmanager
async def connected(
    vmi: VirtualMachineInstance, inside: Namespace, records: Path
) -> AsyncIterator[Network]:
    """The namespace has a way out, and the guest's taps are in it. Its DHCP is the keeper's affair: it takes
    a guest a second to ask for it.
    """
    # Netlink and its like are not needed by guests without a card, nor by the launcher's start.
    from kubevirt.host.net import dnsmasq  # noqa: PLC0415
    from kubevirt.host.net.apply import apply  # noqa: PLC0415
    from kubevirt.host.net.home import home  # noqa: PLC0415
    from kubevirt.host.net.pod import read_pod  # noqa: PLC0415
    from kubevirt.virt.network.dnsmasq import config  # noqa: PLC0415
    from kubevirt.virt.network.planning import plan_network  # noqa: PLC0415

    own = [network.pod.vm_network_cidr for network in vmi.spec.networks if network.pod]
    async with home(records, inside=inside, avoid=[each for each in own if each]) as found:
        plans = plan_network(vmi, await read_pod(inside, found.resolver, owner=LAUNCHER))
        await apply(inside, plans)
        with ExitStack() as stack:
            servers, inherited = [], [inside.fd]
            for server in (plan.dhcp for plan in plans if plan.dhcp):
                configuration = dnsmasq.sealed(config(server))
                stack.callback(os.close, configuration)
                inherited.append(configuration)
                servers.append(dnsmasq.command(inside, server, configuration))
            yield Network(
                cards={plan.interface: plan.card for plan in plans},
                address=found.address,
                servers=tuple(servers),
                inherited=tuple(inherited),
                lock=found.lock,
                notes=found.notes,
            )


def empty() -> Namespace:
    """A namespace of the guest's own, with nothing in it yet."""
    return Namespace.new("network namespace of the guest")
