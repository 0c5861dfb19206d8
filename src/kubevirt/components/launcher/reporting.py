"""From what libvirt says of a domain to what a handler is told of it."""

from kubevirt.rpc import reports
from kubevirt.virt.domain.alias import USER_PREFIX
from kubevirt.virt.domain.alias import Alias as LibvirtAlias
from kubevirt.virt.domain.channel import Channel
from kubevirt.virt.domain.disk import Disk
from kubevirt.virt.domain.domain import Domain
from kubevirt.virt.domain.interface import Interface
from kubevirt.virt.domain.metadata import GracePeriod, Kubevirt, MemoryDump

TRUE = "true"


def spec_of(domain: Domain) -> reports.Spec:
    return reports.Spec(
        type=domain.type,
        name=domain.name,
        uuid=domain.uuid or "",
        os=reports.System(type=reports.MachineType(machine=domain.os.type.machine or "")),
        devices=reports.Devices(
            interfaces=tuple(map(_interface, domain.devices.interfaces)),
            disks=tuple(map(_disk, domain.devices.disks)),
            channels=tuple(map(_channel, domain.devices.channels)),
        ),
        metadata=reports.Metadata(kubevirt=_metadata(domain)),
    )


def metadata_of(domain: Domain) -> Kubevirt:
    """What we wrote into the domain."""
    return (domain.metadata and domain.metadata.kubevirt) or Kubevirt()


def _metadata(domain: Domain) -> reports.Kubevirt:
    found = metadata_of(domain)
    return reports.Kubevirt(
        uid=found.uid or "",
        grace_period=_grace_period(found.graceperiod) if found.graceperiod else None,
        memory_dump=_memory_dump(found.memory_dump) if found.memory_dump else None,
    )


def _grace_period(grace: GracePeriod) -> reports.GracePeriod:
    return reports.GracePeriod(
        deletion_grace_period_seconds=grace.deletion_grace_period_seconds or 0,
        deletion_timestamp=grace.deletion_timestamp,
        marked_for_graceful_shutdown=grace.marked_for_graceful_shutdown == TRUE or None,
    )


def _memory_dump(dump: MemoryDump) -> reports.MemoryDump:
    return reports.MemoryDump(
        file_name=dump.file_name or "",
        start_timestamp=dump.start_timestamp,
        end_timestamp=dump.end_timestamp,
        completed=dump.completed == TRUE,
        failed=dump.failed == TRUE,
        failure_reason=dump.failure_reason or "",
    )


def _interface(card: Interface) -> reports.Interface:
    return reports.Interface(
        alias=_alias(card.alias),
        mac=reports.Mac(mac=card.mac.address) if card.mac else None,
        target=reports.Target(device=card.target.dev) if card.target else None,
        link_state=reports.LinkState(state=card.link.state) if card.link else None,
        driver=reports.Queues(queues=card.driver.queues) if card.driver else None,
    )


def _disk(disk: Disk) -> reports.Disk:
    target = reports.Target(device=disk.target.dev, bus=disk.target.bus)
    return reports.Disk(alias=_alias(disk.alias), target=target)


def _channel(channel: Channel) -> reports.Channel:
    target = channel.target
    if target is None:
        return reports.Channel()
    return reports.Channel(
        target=reports.ChannelTarget(name=target.name or "", state=target.state or "")
    )


def _alias(alias: LibvirtAlias | None) -> reports.Alias | None:
    if alias is None:
        return None
    name = alias.name.removeprefix(USER_PREFIX)
    return reports.Alias(name=name, user_defined=name != alias.name)
