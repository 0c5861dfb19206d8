"""What a launcher reports of its domain, as JSON under KubeVirt's own names.

A handler of another make reads the same fields, so names are spelled as KubeVirt's Go structs are:
`ObjectMeta`, `Spec`, `Status`. Only what a handler decides by is in a report; the whole of a domain is
libvirt's business. The state is in `Status`, the reason of the last change beside it.
"""

from typing import Final

import msgspec
from msgspec import field
from msgspec.structs import replace

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
ERROR: Final = "ERROR"

# States of a domain.
NO_STATE: Final = "NoState"
RUNNING: Final = "Running"
BLOCKED: Final = "Blocked"
PAUSED: Final = "Paused"
SHUTTING_DOWN: Final = "ShuttingDown"
SHUT_OFF: Final = "Shutoff"
CRASHED: Final = "Crashed"
SUSPENDED: Final = "PMSuspended"

# Reasons that decisions are made by; there are more, which are only shown.
UNKNOWN: Final = "Unknown"
BY_USER: Final = "User"
BY_SHUTDOWN: Final = "Shutdown"
BY_DESTRUCTION: Final = "Destroyed"
BY_CRASH: Final = "Crashed"
BY_PANIC: Final = "Panicked"
BY_FAILURE: Final = "Failed"
BY_IO_ERROR: Final = "IOError"
BY_MIGRATION: Final = "Migrated"

AGENT: Final = "org.qemu.guest_agent.0"
"""The channel of the guest's agent."""
CONNECTED: Final = "connected"

FROZEN: Final = "frozen"
THAWED: Final = "thawed"


class Part(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="pascal", gc=False
):
    """A piece of a report."""


class ObjectMeta(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whose domain it is; the one part that is spelled as Kubernetes does."""

    name: str = ""
    namespace: str = ""
    uid: str = ""


class GracePeriod(Part, frozen=True, kw_only=True):
    deletion_grace_period_seconds: int = 0
    deletion_timestamp: str | None = None
    """When the guest was asked to shut down."""
    marked_for_graceful_shutdown: bool | None = None
    """The launcher was told to end: please shut the guest down."""


class MemoryDump(Part, frozen=True, kw_only=True):
    """The last one, under way or over."""

    file_name: str = ""
    start_timestamp: str | None = None
    end_timestamp: str | None = None
    completed: bool = False
    failed: bool = False
    failure_reason: str = ""


class Kubevirt(Part, frozen=True, kw_only=True):
    uid: str = field(default="", name="UID")
    grace_period: GracePeriod | None = None
    memory_dump: MemoryDump | None = None


class Metadata(Part, frozen=True, kw_only=True):
    kubevirt: Kubevirt = field(default=Kubevirt(), name="KubeVirt")


class Alias(Part, frozen=True, kw_only=True):
    """The name of a device: the one from the manifest, if it is the user's."""

    name: str
    user_defined: bool = False


class Mac(Part, frozen=True, kw_only=True):
    mac: str = field(name="MAC")


class LinkState(Part, frozen=True, kw_only=True):
    state: str


class Queues(Part, frozen=True, kw_only=True):
    queues: int | None = None


class Target(Part, frozen=True, kw_only=True):
    device: str
    bus: str | None = None


class Interface(Part, frozen=True, kw_only=True):
    alias: Alias | None = None
    mac: Mac | None = field(default=None, name="MAC")
    target: Target | None = None
    link_state: LinkState | None = None
    driver: Queues | None = None


class Disk(Part, frozen=True, kw_only=True):
    alias: Alias | None = None
    target: Target


class ChannelTarget(Part, frozen=True, kw_only=True):
    name: str = ""
    state: str = ""
    """connected, if somebody in the guest has opened it."""


class Channel(Part, frozen=True, kw_only=True):
    """A pipe into the guest; its agent's is one."""

    target: ChannelTarget | None = None


class Devices(Part, frozen=True, kw_only=True):
    interfaces: tuple[Interface, ...] = ()
    disks: tuple[Disk, ...] = ()
    channels: tuple[Channel, ...] = ()


class MachineType(Part, frozen=True, kw_only=True):
    machine: str = ""


class System(Part, frozen=True, kw_only=True):
    type: MachineType = MachineType()


class Spec(Part, frozen=True, kw_only=True):
    """What libvirt made of the domain."""

    type: str = ""
    """kvm, or qemu for an emulated guest."""
    name: str = ""
    uuid: str = field(default="", name="UUID")
    os: System = field(default=System(), name="OS")
    devices: Devices = Devices()
    metadata: Metadata = Metadata()

    @property
    def has_agent(self) -> bool:
        """Whether the guest's agent is there; what it says is another matter."""
        wanted = ChannelTarget(name=AGENT, state=CONNECTED)
        return any(channel.target == wanted for channel in self.devices.channels)

    @property
    def without_agent(self) -> "Spec":
        """The same, with nobody in the guest who has opened the agent's channel."""
        channels = tuple(
            Channel(target=ChannelTarget(name=AGENT))
            if each.target is not None and each.target.name == AGENT
            else each
            for each in self.devices.channels
        )
        return replace(self, devices=replace(self.devices, channels=channels))


class InterfaceStatus(Part, frozen=True, kw_only=True):
    """A network card as the guest's agent sees it."""

    mac: str = ""
    ip: str = ""
    ips: tuple[str, ...] = field(default=(), name="IPs")
    interface_name: str = ""


class OsInfo(Part, frozen=True, kw_only=True):
    """The guest's system as its agent tells it."""

    name: str = ""
    kernel_release: str = ""
    version: str = ""
    pretty_name: str = ""
    version_id: str = ""
    kernel_version: str = ""
    machine: str = ""
    id: str = ""


class Freeze(Part, frozen=True, kw_only=True):
    status: str = ""


class Status(Part, frozen=True, kw_only=True):
    status: str = NO_STATE
    reason: str = ""
    message: str = ""
    """In words, why it ended; upstream's launchers do not tell."""
    resets: int = 0
    """How often its machine was reset; upstream's launchers do not count."""
    interfaces: tuple[InterfaceStatus, ...] = ()
    os_info: OsInfo = field(default=OsInfo(), name="OSInfo")
    fs_freeze_status: Freeze = field(default=Freeze(), name="FSFreezeStatus")
    agent_commands: tuple[str, ...] | None = None
    """What the guest's agent offers; None while it has not said. Upstream's launchers do not tell."""


class Domain(Part, frozen=True, kw_only=True):
    """All that a handler is told."""

    object_meta: ObjectMeta = ObjectMeta()
    spec: Spec = Spec()
    status: Status = Status()


def encoded(domain: Domain) -> bytes:
    return msgspec.json.encode(domain)


def decoded(report: bytes | str) -> Domain:
    """Fields that this side does not know are left out."""
    return msgspec.json.decode(report, type=Domain)
