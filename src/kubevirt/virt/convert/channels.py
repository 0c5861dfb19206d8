"""Channels: the guest agent's, always; that of host metrics if asked for."""

from typing import Final

from kubevirt.virt.convert.guest import Guest
from kubevirt.virt.domain.channel import Channel, ChannelSource, ChannelTarget

AGENT: Final = "org.qemu.guest_agent.0"
METRICS: Final = "org.github.vhostmd.1"


def channels(guest: Guest) -> tuple[Channel, ...]:
    agent = Channel(type="unix", target=ChannelTarget(type="virtio", name=AGENT))
    if guest.devices.downward_metrics is None:
        return (agent,)
    socket = guest.facts.layout.downward_metrics_socket
    metrics = Channel(
        type="unix",
        source=ChannelSource(mode="bind", path=socket),
        target=ChannelTarget(type="virtio", name=METRICS),
    )
    return (agent, metrics)
