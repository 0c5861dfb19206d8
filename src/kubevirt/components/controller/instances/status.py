"""What is told of an instance: its labels, finalizers and status are one write, since it has no status subresource."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.components.controller.fresh import Fresh
from kubevirt.kube.client import Client
from kubevirt.kube.key import Key
from kubevirt.kube.patches import only_if_unchanged
from kubevirt.virt.changes import difference
from kubevirt.virt.instance.claims import Claims, with_claims
from kubevirt.virt.instance.life import Plan


def wanted(vmi: VirtualMachineInstance, plan: Plan, claims: Claims) -> VirtualMachineInstance:
    """The instance as it should be."""
    after = plan.applied_to(vmi)
    return replace(after, status=with_claims(vmi, after.status, claims))


async def tell(
    client: Client,
    instances: Fresh[VirtualMachineInstance],
    vmi: VirtualMachineInstance,
    after: VirtualMachineInstance,
    again: Callable[[Key], None],
) -> VirtualMachineInstance:
    """The instance as it is then; the same one if there was nothing to say."""
    status = difference(vmi.status, after.status)
    metadata = difference(vmi.metadata, after.metadata)
    if not status and not metadata:
        return vmi
    key = Key.of(vmi)
    body: dict[str, Any] = {"status": status} if status else {}
    patch = only_if_unchanged(vmi, body, metadata)
    async with instances.writing(key, again) as write:
        answer = await client.patch(VIRTUAL_MACHINE_INSTANCES, key.name, patch, key.namespace)
        write.answer = answer
    return answer
