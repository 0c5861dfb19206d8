"""Figures of machines and instances, under KubeVirt's names. Read from the caches when somebody asks."""

from collections.abc import Iterator, Sequence
from typing import Final

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.kept import KeptMachine
from kubevirt.kube.metrics import Family, Labels
from kubevirt.virt.machine import printable

STOPPED: Final = "Stopped"
"""What the server writes of a machine of which nothing was said yet."""
_TELLING: Final = frozenset({"Ready", "Failure", "Paused"})
"""Conditions that change when the word for a machine does."""


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
    yield from _since(machines)
    yield Family(
        "kubevirt_vmi_info",
        "gauge",
        "Instances, with their phases and nodes.",
        [(_of_instance(each), 1.0) for each in instances],
    )
    yield Family(
        "kubevirt_vmi_status_addresses",
        "gauge",
        "Addresses of instances, one for each network card.",
        [(labels, 1.0) for each in instances for labels in _addresses(each)],
    )
    developer = configuration.developer_configuration
    yield Family(
        "kubevirt_configuration_emulation_enabled",
        "gauge",
        "Whether guests are emulated.",
        [({}, float(bool(developer and developer.use_emulation)))],
    )


def _since(machines: Sequence[KeptMachine]) -> Iterator[Family]:
    """Each machine has a moment in one of the groups, and 0 in the others."""
    known = [(_names(each), printable.group(_word(each)), _changed(each)) for each in machines]
    for group in printable.GROUPS:
        yield Family(
            f"kubevirt_vm_{group}_status_last_transition_timestamp_seconds",
            "gauge",
            f"When a machine came to be {group.replace('_', ' ')}; 0 while it is not.",
            [(names, moment if own == group else 0.0) for names, own, moment in known],
        )


def _changed(machine: KeptMachine) -> float:
    """Its last change; its creation, if there was none yet."""
    conditions = (each for each in machine.status.conditions if each.type in _TELLING)
    moments = [each.last_transition_time for each in conditions]
    known = [each.timestamp() for each in (*moments, machine.metadata.creation_timestamp) if each]
    return max(known, default=0.0)


def _names(thing: KeptMachine | VirtualMachineInstance) -> Labels:
    return {"name": thing.metadata.name, "namespace": thing.metadata.namespace or ""}


def _word(machine: KeptMachine) -> str:
    return machine.status.printable_status or STOPPED


def _of_machine(machine: KeptMachine) -> Labels:
    word = _word(machine)
    return {**_names(machine), "status": word.lower(), "status_group": printable.group(word)}


def _of_instance(vmi: VirtualMachineInstance) -> Labels:
    return {
        **_names(vmi),
        "phase": (vmi.status.phase or "").lower(),
        "node": vmi.status.node_name or "",
    }


def _addresses(vmi: VirtualMachineInstance) -> Iterator[Labels]:
    for card in vmi.status.interfaces:
        if card.ip_address:
            yield {
                **_names(vmi),
                "node": vmi.status.node_name or "",
                "network_name": card.name or "",
                "address": card.ip_address,
                "type": "InternalIP",
            }
