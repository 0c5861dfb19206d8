"""The network of a guest without a cluster: a home with a way out, and the guest's links and DHCP in it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.components.launcher.standalone.folders import LAUNCHER
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.errors import UnsupportedError, shown


class Network(msgspec.Struct, frozen=True, kw_only=True):
    cards: Mapping[str, InterfaceFacts]
    """By interface, for the domain."""
    address: str
    """Under which the machine reaches the guest."""
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
    vmi: VirtualMachineInstance, inside: Namespace, records: Path, clock: Clock
) -> AsyncIterator[Network]:
    """The namespace has a way out, the guest's taps are in it, and its DHCP server answers."""
    # Netlink and its like are not needed by guests without a card, nor by the launcher's start.
    from kubevirt.host.net.apply import apply  # noqa: PLC0415
    from kubevirt.host.net.dnsmasq import serving_all  # noqa: PLC0415
    from kubevirt.host.net.home import home  # noqa: PLC0415
    from kubevirt.host.net.pod import read_pod  # noqa: PLC0415
    from kubevirt.virt.network.planning import plan_network  # noqa: PLC0415

    own = [network.pod.vm_network_cidr for network in vmi.spec.networks if network.pod]
    async with home(records, inside=inside, avoid=[each for each in own if each]) as found:
        plans = plan_network(vmi, await read_pod(inside, found.resolver, owner=LAUNCHER))
        await apply(inside, plans)
        async with serving_all(inside, plans, clock=clock):
            yield Network(
                cards={plan.interface: plan.card for plan in plans},
                address=found.address,
                notes=found.notes,
            )


def empty() -> Namespace:
    """A namespace of the guest's own, with nothing in it yet."""
    return Namespace.new("network namespace of the guest")
