"""What all workers of a node share."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import msgspec

from kubevirt.api.core.node import Node
from kubevirt.api.core.pod import Pod
from kubevirt.api.core.service import Service
from kubevirt.api.scheme import PODS
from kubevirt.base.clock import Clock
from kubevirt.embedded.node.happenings import Happening
from kubevirt.embedded.node.neighbours import (
    Devices,
    Filters,
    Groups,
    Images,
    Network,
    Volumes,
)
from kubevirt.embedded.node.settings import NodeSettings
from kubevirt.embedded.node.standpoint import Standpoint
from kubevirt.embedded.objects.pods import spec_of
from kubevirt.embedded.runtime.keeper import Keeper
from kubevirt.kube.client import Client
from kubevirt.kube.events import EventRecorder, reference


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Everybody whom a node needs to make a pod run."""

    images: Images
    volumes: Volumes
    network: Network
    devices: Devices
    groups: Groups
    filters: Filters
    keeper: Keeper


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    settings: NodeSettings
    client: Client
    clock: Clock
    recorder: EventRecorder
    neighbours: Neighbours
    services: Callable[[], Iterable[Service]]
    """All there are."""
    node: Callable[[], Node | None]
    """The node's own object."""
    boot_id: str

    @property
    def standpoint(self) -> Standpoint:
        return Standpoint(self.neighbours.network.namespace)

    def tell(self, pod: Pod, happening: Happening) -> None:
        about = reference(PODS, pod)
        if happening.container:
            kind = "initContainers" if _is_init(pod, happening.container) else "containers"
            place = f"spec.{kind}{{{happening.container}}}"
            about = msgspec.structs.replace(about, field_path=place)
        tell = self.recorder.warning if happening.is_warning else self.recorder.normal
        tell(about, happening.reason, happening.message)


def _is_init(pod: Pod, name: str) -> bool:
    return any(each.name == name for each in spec_of(pod).init_containers)
