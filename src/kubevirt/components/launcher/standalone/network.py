"""The network of a guest without a cluster: a home with a way out, and the guest's links and DHCP in it."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import msgspec

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.components.launcher.standalone.folders import LAUNCHER, Place
from kubevirt.host.net.apply import apply
from kubevirt.host.net.dnsmasq import serving_all
from kubevirt.host.net.home import Home, home
from kubevirt.host.net.netns import Namespace
from kubevirt.host.net.pod import read_pod
from kubevirt.virt.convert.facts import InterfaceFacts
from kubevirt.virt.errors import UnsupportedError, shown
from kubevirt.virt.network.planning import plan_network


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
async def furnished(vmi: VirtualMachineInstance, place: Place) -> AsyncIterator[Home]:
    """A home whose network is none of the guest's own."""
    own = [network.pod.vm_network_cidr for network in vmi.spec.networks if network.pod]
    async with home(place.homes, avoid=[each for each in own if each]) as found:
        yield found


@asynccontextmanager
async def connected(
    vmi: VirtualMachineInstance, found: Home, clock: Clock
) -> AsyncIterator[Network]:
    """The guest's taps are there and its DHCP server answers."""
    plans = plan_network(vmi, await read_pod(found.namespace, found.resolver, owner=LAUNCHER))
    await apply(found.namespace, plans)
    async with serving_all(found.namespace, plans, clock=clock):
        yield Network(
            cards={plan.interface: plan.card for plan in plans},
            address=found.address,
            notes=found.notes,
        )


def empty() -> Namespace:
    """For a guest without a card: a namespace with nothing in it."""
    return Namespace.new("network namespace without links")
