"""What is written of an instance: the fields of its status that changed, in one patch, and nothing else.

An instance has no status subresource. The patch names the version that was seen, so a server refuses it if there
is another by now: virt-controller writes to the same lists, and neither of us may undo what the other has written.
"""

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import only_if_unchanged
from kubevirt.virt.changes import difference


async def write(
    client: Client, vmi: VirtualMachineInstance, told: VirtualMachineInstanceStatus
) -> VirtualMachineInstance | None:
    """The instance as it is now; None if it is gone. Raises `Conflict` if it was changed meanwhile."""
    metadata = vmi.metadata
    patch = only_if_unchanged(vmi, {"status": difference(vmi.status, told)})
    try:
        return await client.patch(
            VIRTUAL_MACHINE_INSTANCES, metadata.name, patch, metadata.namespace
        )
    except NotFound:
        return None
