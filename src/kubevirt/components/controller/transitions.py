"""How long instances take from phase to phase, as far as this process has seen it, under KubeVirt's names."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.components.controller.caches import Caches
from kubevirt.kube.cache.store import Change
from kubevirt.kube.histogram import Histogram
from kubevirt.kube.metrics import Family
from kubevirt.virt.instance import phases

EDGES_S: Final = (
    *(0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 90.0),
    *(120.0, 180.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0),
)
BETWEEN: Final = "kubevirt_vmi_phase_transition_time_seconds"
CREATION: Final = "kubevirt_vmi_phase_transition_time_from_creation_seconds"
DELETION: Final = "kubevirt_vmi_phase_transition_time_from_deletion_seconds"
_HELP: Final = {
    BETWEEN: "How long an instance was in one phase before it entered the next.",
    CREATION: "How long after its creation an instance entered a phase.",
    DELETION: "How long after it was deleted an instance had come to its end.",
}


class Transitions:
    def __init__(self, caches: Caches, clock: Clock) -> None:
        self._clock = clock
        self._times: dict[tuple[str, str, str], Histogram] = defaultdict(
            partial(Histogram, EDGES_S)
        )
        """By figure, phase, and the phase before where that counts."""
        caches.instances.informer.add_handler(self._hear)

    def _hear(self, change: Change[VirtualMachineInstance]) -> None:
        old, new = change.old, change.new
        if old is None or new is None or old.status.phase == new.status.phase:
            return
        phase, before = new.status.phase or "", old.status.phase or ""
        now, metadata = self._clock.now(), new.metadata
        self._observe((CREATION, phase, ""), metadata.creation_timestamp, now)
        # Moments in a status are whole seconds: between two of them neither is cut off more than the other.
        self._observe(
            (BETWEEN, phase, before), phases.entered(new, before), phases.entered(new, phase)
        )
        if phases.is_final(new):
            self._observe((DELETION, phase, ""), metadata.deletion_timestamp, now)

    def _observe(
        self, what: tuple[str, str, str], since: datetime | None, until: datetime | None
    ) -> None:
        if since is not None and until is not None:
            self._times[what].observe(max((until - since).total_seconds(), 0.0))

    def figures(self) -> Iterator[Family]:
        for name, help_ in _HELP.items():
            known = [(key, times) for key, times in self._times.items() if key[0] == name]
            yield Family(
                name,
                "histogram",
                help_,
                [(_labels(phase, before), times) for (_, phase, before), times in known],
            )


def _labels(phase: str, before: str) -> dict[str, str]:
    return {"phase": phase, **({"last_phase": before} if before else {})}
