"""Events about instances, ours and those that launchers ask us to record.

A launcher has no rights in the cluster. It says what a person should read; that it is about its own instance,
and about nothing else, is our word.
"""

import re
from typing import Final

from kubevirt.api.core.event import Event
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.components.handler.launchers.identity import Identity
from kubevirt.kube.events import EventRecorder, reference
from kubevirt.virt.happening import Failure, Happening

_REASON: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
UNNAMED: Final = "LauncherEvent"


class Events:
    def __init__(self, recorder: EventRecorder) -> None:
        self._recorder = recorder

    def tell(self, vmi: VirtualMachineInstance, happening: Happening) -> None:
        record = self._recorder.warning if happening.is_warning else self._recorder.normal
        record(reference(VIRTUAL_MACHINE_INSTANCES, vmi), happening.reason, happening.message)

    def failed(self, vmi: VirtualMachineInstance, failure: Failure) -> None:
        about = reference(VIRTUAL_MACHINE_INSTANCES, vmi)
        self._recorder.warning(about, failure.reason, failure.message)

    def pass_on(self, whose: Identity, event: Event) -> None:
        reason = event.reason or ""
        reason = reason if _REASON.fullmatch(reason) else UNNAMED
        record = self._recorder.warning if event.type == "Warning" else self._recorder.normal
        record(whose.reference, reason, event.message or "")
