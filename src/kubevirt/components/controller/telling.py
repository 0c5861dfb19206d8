"""Events of machines and instances: what the decisions call happenings, said to the server."""

from typing import Any

from kubevirt.api.meta import HasMetadata
from kubevirt.api.resource import Resource
from kubevirt.kube.events import EventRecorder, reference
from kubevirt.virt.happening import Happening


class Teller:
    def __init__(self, recorder: EventRecorder, resource: Resource[Any]) -> None:
        self._recorder = recorder
        self._resource = resource

    def tell(self, about: HasMetadata, happening: Happening) -> None:
        record = self._recorder.warning if happening.is_warning else self._recorder.normal
        record(reference(self._resource, about), happening.reason, happening.message)
