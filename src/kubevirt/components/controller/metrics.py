"""Figures of machines and instances, under KubeVirt's names. Read from the caches when somebody asks."""

from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.base.clock import Clock
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.kept import KeptMachine
from kubevirt.kube.cache.store import Change
from kubevirt.kube.histogram import Histogram
from kubevirt.kube.metrics import Family, Labels

EDGES_S: Final = (
    *(0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 90.0),
    *(120.0, 180.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0),
)


class Transitions:
    """How long after their creation instances enter their phases, as far as this process has seen it."""

    def __init__(self, caches: Caches, clock: Clock) -> None:
        self._clock = clock
        self._times: dict[str, Histogram] = defaultdict(partial(Histogram, EDGES_S))
        caches.instances.informer.add_handler(self._hear)

    def _hear(self, change: Change[VirtualMachineInstance]) -> None:
        old, new = change.old, change.new
        if old is None or new is None or old.status.phase == new.status.phase:
            return
        born = new.metadata.creation_timestamp
        if born is not None and new.status.phase:
            self._times[new.status.phase].observe((self._clock.now() - born).total_seconds())

    def figures(self) -> Iterator[Family]:
        yield Family(
            "kubevirt_vmi_phase_transition_time_from_creation_seconds",
            "histogram",
            "How long after its creation an instance entered a phase.",
            [({"phase": phase}, times) for phase, times in self._times.items()],
        )


def figures(caches: Caches, configuration: KubeVirtConfiguration) -> Iterator[Family]:
    machines, instances = list(caches.machines.informer), list(caches.instances.informer)
    yield Family(
        "kubevirt_vm_info",
        "gauge",
        "Machines, with the word that tells what each does.",
        [(_of_machine(each), 1.0) for each in machines],
    )
    yield Family(
        "kubevirt_vm_create_date_timestamp_seconds",
        "gauge",
        "When a machine was created.",
        [
            (_names(each), each.metadata.creation_timestamp.timestamp())
            for each in machines
            if each.metadata.creation_timestamp
        ],
    )
    yield Family(
        "kubevirt_vmi_info",
        "gauge",
        "Instances, with their phases and nodes.",
        [(_of_instance(each), 1.0) for each in instances],
    )
    developer = configuration.developer_configuration
    yield Family(
        "kubevirt_configuration_emulation_enabled",
        "gauge",
        "Whether guests are emulated.",
        [({}, float(bool(developer and developer.use_emulation)))],
    )


def _names(thing: KeptMachine | VirtualMachineInstance) -> Labels:
    return {"name": thing.metadata.name, "namespace": thing.metadata.namespace or ""}


def _of_machine(machine: KeptMachine) -> Labels:
    return {**_names(machine), "status": (machine.status.printable_status or "Stopped").lower()}


def _of_instance(vmi: VirtualMachineInstance) -> Labels:
    return {
        **_names(vmi),
        "phase": (vmi.status.phase or "").lower(),
        "node": vmi.status.node_name or "",
    }
