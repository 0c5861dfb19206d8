"""Statistics: libvirt's flat names, sorted into types."""

from kubevirt.host.libvirt.states import DomainState, State, state_of
from kubevirt.host.libvirt.stats import (
    BalloonStats,
    BlockStats,
    CpuStats,
    InterfaceStats,
    VcpuStats,
    stats_from,
)


def test_flat_names_become_typed_values() -> None:
    stats = stats_from(
        {
            "state.state": 1,
            "state.reason": 1,
            "cpu.time": 5,
            "cpu.cache.monitor.count": 0,
            "vcpu.current": 1,
            "vcpu.maximum": 4,
            "vcpu.0.state": 1,
            "vcpu.0.time": 7,
            "vcpu.2.state": 1,
            "balloon.current": 65536,
            "balloon.last-update": 9,
            "block.count": 1,
            "block.0.name": "vda",
            "block.0.rd.bytes": 512,
            "net.count": 1,
            "net.0.name": "tap0",
            "net.0.tx.pkts": 3,
        }
    )
    assert stats.state == DomainState(State.RUNNING, "Booted")
    assert stats.cpu == CpuStats(time_ns=5)
    assert stats.vcpus == (VcpuStats(state=1, time_ns=7), VcpuStats(state=1))
    assert (stats.vcpus_current, stats.vcpus_maximum) == (1, 4)
    assert stats.balloon == BalloonStats(current_kib=65536, last_update_s=9)
    assert stats.blocks == (BlockStats(name="vda", read_bytes=512),)
    assert stats.interfaces == (InterfaceStats(name="tap0", sent_packets=3),)


def test_what_nobody_told_is_not_zero() -> None:
    stats = stats_from({})
    assert stats.state.state == State.NO_STATE
    assert stats.cpu.time_ns is None
    assert stats.blocks == ()


def test_states_of_a_newer_libvirt_are_unknown() -> None:
    assert state_of(99, 99) == DomainState(State.NO_STATE, "Unknown")
    assert state_of(1, 99) == DomainState(State.RUNNING, "Unknown")
    assert state_of(-1, -1) == DomainState(State.NO_STATE, "Unknown")
    assert not state_of(5, 2).is_alive
    assert state_of(3, 5) == DomainState(State.PAUSED, "IOError")
