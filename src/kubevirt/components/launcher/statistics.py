"""Statistics: libvirt's numbers under KubeVirt's names."""

from kubevirt.host.libvirt import stats as libvirt
from kubevirt.rpc import stats as wire
from kubevirt.virt.domain.domain import Domain


def statistics(domain: Domain, found: libvirt.DomainStats) -> wire.DomainStats:
    cards = {
        card.target.dev: card.alias.name if card.alias else None
        for card in domain.devices.interfaces
        if card.target
    }
    return wire.DomainStats(
        name=domain.name,
        uuid=domain.uuid or "",
        cpu=wire.Cpu(time=found.cpu.time_ns, user=found.cpu.user_ns, system=found.cpu.system_ns),
        memory=_memory(found.balloon),
        vcpu=tuple(
            wire.Vcpu(state=each.state, time=each.time_ns, wait=each.wait_ns, delay=each.delay_ns)
            for each in found.vcpus
        ),
        net=tuple(_net(each, cards.get(each.name)) for each in found.interfaces),
        block=tuple(map(_block, found.blocks)),
    )


def _memory(balloon: libvirt.BalloonStats) -> wire.Memory:
    return wire.Memory(
        unused=balloon.unused_kib,
        cached=balloon.disk_caches_kib,
        available=balloon.available_kib,
        actual_balloon=balloon.current_kib,
        rss=balloon.rss_kib,
        swap_in=balloon.swap_in_kib,
        swap_out=balloon.swap_out_kib,
        major_fault=balloon.major_faults,
        minor_fault=balloon.minor_faults,
        usable=balloon.usable_kib,
        total=balloon.maximum_kib,
    )


def _net(card: libvirt.InterfaceStats, alias: str | None) -> wire.Net:
    return wire.Net(
        name=card.name,
        alias=alias,
        rx_bytes=card.received_bytes,
        rx_pkts=card.received_packets,
        rx_errs=card.received_errors,
        rx_drop=card.received_dropped,
        tx_bytes=card.sent_bytes,
        tx_pkts=card.sent_packets,
        tx_errs=card.sent_errors,
        tx_drop=card.sent_dropped,
    )


def _block(disk: libvirt.BlockStats) -> wire.Block:
    return wire.Block(
        name=disk.name,
        backing_index=disk.backing_index,
        path=disk.path,
        rd_reqs=disk.read_requests,
        rd_bytes=disk.read_bytes,
        rd_times=disk.read_ns,
        wr_reqs=disk.write_requests,
        wr_bytes=disk.write_bytes,
        wr_times=disk.write_ns,
        fl_reqs=disk.flush_requests,
        fl_times=disk.flush_ns,
        errors=disk.errors,
        allocation=disk.allocation,
        capacity=disk.capacity,
        physical=disk.physical,
    )
