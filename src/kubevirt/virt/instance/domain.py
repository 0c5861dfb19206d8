"""What virt-handler sees of a guest and decides by."""

from typing import Final

import msgspec

from kubevirt.api.guest_os import VirtualMachineInstanceGuestOSInfo
from kubevirt.virt.happening import Failure

# States of a domain, and the reasons that decisions are made by.
RUNNING: Final = "Running"
BLOCKED: Final = "Blocked"
PAUSED: Final = "Paused"
SHUTTING_DOWN: Final = "ShuttingDown"
SHUT_OFF: Final = "Shutoff"
CRASHED: Final = "Crashed"
SUSPENDED: Final = "PMSuspended"
ALIVE: Final = frozenset({RUNNING, BLOCKED, PAUSED, SHUTTING_DOWN, SUSPENDED})


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A network card, by what libvirt, or an agent in the guest, tells of it."""

    name: str = ""
    """The one in the manifest; empty for cards that only the guest knows."""
    mac: str = ""
    addresses: tuple[str, ...] = ()
    guest_name: str = ""
    queues: int | None = None
    link_state: str | None = None


class DomainSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A guest as its launcher reports it."""

    state: str
    reason: str = ""
    ending: str = ""
    """In words, why it ended, if it has."""
    is_emulated: bool = False
    machine: str = ""
    has_agent: bool = False
    agent_commands: frozenset[str] | None = None
    """Those of `agent.JUDGED` that it offers; None while nobody knows."""
    cards: tuple[Card, ...] = ()
    guest_cards: tuple[Card, ...] = ()
    """Those an agent tells of."""
    targets: tuple[tuple[str, str], ...] = ()
    """Of disks: the volume's name and the device that it is."""
    os: VirtualMachineInstanceGuestOSInfo = VirtualMachineInstanceGuestOSInfo()
    is_frozen: bool = False
    resets: int = 0
    """How often its machine was reset since it was started."""


class GuestSeen(msgspec.Struct, frozen=True, kw_only=True):
    domain: DomainSeen | None = None
    """None if the launcher has none, or has not told."""
    is_launcher_lost: bool = False
    """It has not answered for so long that the guest counts as gone."""
    failure: Failure | None = None
    """What the last try to bring the guest about came to, if it failed."""
    pod_addresses: tuple[str, ...] = ()
    shared_claims: frozenset[str] = frozenset()
    """Claims that several nodes may write to at once."""
