"""What is written of an instance: the fields of its status that changed, in one patch, and nothing else.

An instance has no status subresource. The patch names the version that was seen, so a server refuses it if there
is another by now: virt-controller writes to the same lists, and neither of us may undo what the other has written.
"""

from typing import Any

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.patches import MergePatch
from kubevirt.virt.changes import between


async def write(
    client: Client, vmi: VirtualMachineInstance, told: VirtualMachineInstanceStatus
) -> VirtualMachineInstance | None:
    """The instance as it is now; None if it is gone. Raises `Conflict` if it was changed meanwhile."""
    metadata = vmi.metadata
    try:
        return await client.patch(
            VIRTUAL_MACHINE_INSTANCES, metadata.name, patch(vmi, told), metadata.namespace
        )
    except NotFound:
        return None


def patch(vmi: VirtualMachineInstance, told: VirtualMachineInstanceStatus) -> MergePatch:
    seen = {"uid": vmi.metadata.uid, "resourceVersion": vmi.metadata.resource_version}
    changes = {each.field: _change(each.before, each.after) for each in between(vmi.status, told)}
    return MergePatch({"metadata": seen, "status": changes})


def _change(before: Any, after: Any) -> Any:
    """A merge leaves what it does not name, so what is to go is named; lists are replaced as a whole."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    names = before.keys() | after.keys()
    return {
        name: _change(before.get(name), after.get(name))
        for name in sorted(names)
        if before.get(name) != after.get(name)
    }
