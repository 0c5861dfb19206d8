"""Figures of machines and instances, under KubeVirt's names. Read from the caches when somebody asks."""

from collections.abc import Iterator

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.components.controller.caches import Caches
from kubevirt.components.controller.kept import KeptMachine
from kubevirt.kube.metrics import Family, Labels


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
