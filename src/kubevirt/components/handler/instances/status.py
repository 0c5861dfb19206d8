"""What is written of an instance: the fields of its status that changed, in one patch, and nothing else.

An instance has no status subresource. The patch tests the UID and the version that was seen: virt-controller
writes to the same lists, and neither of us may undo what the other has just written.
"""

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.errors import Retry
from kubevirt.kube.client import Client
from kubevirt.kube.errors import Invalid, NotFound
from kubevirt.kube.patches import JsonPatch, pointer
from kubevirt.virt.changes import Change, between

OVERTAKEN = "the instance was changed meanwhile"


async def write(
    client: Client, vmi: VirtualMachineInstance, told: VirtualMachineInstanceStatus
) -> VirtualMachineInstance | None:
    """The instance as it is now; None if it is gone."""
    metadata = vmi.metadata
    patch = (
        JsonPatch()
        .test("/metadata/uid", metadata.uid)
        .test("/metadata/resourceVersion", metadata.resource_version)
    )
    for change in between(vmi.status, told):
        patch = _with(patch, change)
    try:
        return await client.patch(
            VIRTUAL_MACHINE_INSTANCES, metadata.name, patch, metadata.namespace
        )
    except NotFound:
        return None
    except Invalid as error:
        if _is_failed_test(error):
            raise Retry(OVERTAKEN) from None
        raise


def _with(patch: JsonPatch, change: Change) -> JsonPatch:
    path = pointer("status", change.field)
    if change.after is None:
        return patch.remove(path)
    return patch.add(path, change.after)


def _is_failed_test(error: Invalid) -> bool:
    return "test" in str(error).lower() and not error.causes
