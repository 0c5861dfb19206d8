"""Machines and instances as the server has them now; who is not there is refused in KubeVirt's words."""

from typing import Any

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.scheme import PODS, VIRTUAL_MACHINE_INSTANCES, VIRTUAL_MACHINES
from kubevirt.components.virtapi.path import Asked
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.virt.commands.refusal import INSTANCE, MACHINE, conflict, not_found
from kubevirt.virt.ownership import is_owned_by


async def machine(client: Client, asked: Asked) -> VirtualMachine:
    try:
        return await client.get(VIRTUAL_MACHINES, asked.name, asked.namespace)
    except NotFound:
        raise not_found(MACHINE, asked.name) from None


async def raw_machine(client: Client, asked: Asked) -> dict[str, Any]:
    """All of it."""
    try:
        return await client.get(VIRTUAL_MACHINES.raw, asked.name, asked.namespace)
    except NotFound:
        raise not_found(MACHINE, asked.name) from None


async def instance(client: Client, asked: Asked) -> VirtualMachineInstance:
    try:
        return await client.get(VIRTUAL_MACHINE_INSTANCES, asked.name, asked.namespace)
    except NotFound:
        raise not_found(INSTANCE, asked.name) from None


async def instance_of(client: Client, vm: VirtualMachine) -> VirtualMachineInstance | None:
    """Its own: one of the same name may be another's."""
    meta = vm.metadata
    try:
        found = await client.get(VIRTUAL_MACHINE_INSTANCES, meta.name, meta.namespace)
    except NotFound:
        return None
    return found if is_owned_by(found, vm) else None


async def owner_of(client: Client, vmi: VirtualMachineInstance) -> VirtualMachine | None:
    meta = vmi.metadata
    try:
        found = await client.get(VIRTUAL_MACHINES, meta.name, meta.namespace)
    except NotFound:
        return None
    return found if is_owned_by(vmi, found) else None


async def started_instance(client: Client, asked: Asked) -> VirtualMachineInstance:
    """Of a machine."""
    found = await instance_of(client, await machine(client, asked))
    if found is None:
        raise conflict(MACHINE, asked.name, "VMI is not started")
    return found


async def pod_addresses(client: Client, vmi: VirtualMachineInstance) -> frozenset[str]:
    """Of its launchers. A guest says what it likes of its address; a pod has one from the cluster."""
    pods = await client.list(
        PODS,
        vmi.metadata.namespace,
        label_selector=f"kubevirt.io/created-by={vmi.metadata.uid}",
    )
    own = [pod for pod in pods.items if is_owned_by(pod, vmi)]
    return frozenset(
        address
        for pod in own
        for address in (pod.status.pod_ip, *(each.ip for each in pod.status.pod_i_ps))
        if address
    )
