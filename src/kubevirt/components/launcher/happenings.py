"""Happenings: what a person should read about the guest, as events of Kubernetes.

A launcher has no rights in the cluster; its handler records them.
"""

import msgspec

from kubevirt.api.core.event import Event, EventSource
from kubevirt.api.core.references import ObjectReference
from kubevirt.api.meta import ObjectMeta
from kubevirt.base.clock import Clock
from kubevirt.components.launcher.notifier import Notifier
from kubevirt.components.launcher.settings import Settings

NORMAL = "Normal"
WARNING = "Warning"
COMPONENT = "virt-launcher"
MESSAGE_LIMIT = 1024


class Happenings:
    def __init__(self, settings: Settings, notifier: Notifier, clock: Clock) -> None:
        self._about = ObjectReference(
            api_version="kubevirt.io/v1",
            kind="VirtualMachineInstance",
            name=settings.name,
            namespace=settings.namespace,
            uid=settings.uid,
        )
        self._notifier = notifier
        self._clock = clock

    def tell(self, reason: str, message: str, kind: str = NORMAL) -> None:
        now = self._clock.now().replace(microsecond=0)
        event = Event(
            type=kind,
            reason=reason,
            message=message[:MESSAGE_LIMIT],
            involved_object=self._about,
            metadata=ObjectMeta(namespace=self._about.namespace),
            source=EventSource(component=COMPONENT),
            first_timestamp=now,
            last_timestamp=now,
            count=1,
        )
        self._notifier.event(msgspec.json.encode(event))
