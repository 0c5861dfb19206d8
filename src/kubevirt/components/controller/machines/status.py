"""What is told of a machine: one patch of the fields that differ."""

from collections.abc import Callable

from kubevirt.api.machine import VirtualMachine, VirtualMachineStatus
from kubevirt.components.controller.fresh import Fresh
from kubevirt.components.controller.kept import MACHINES, KeptMachine
from kubevirt.kube.client import Client
from kubevirt.kube.key import Key
from kubevirt.kube.patches import only_if_unchanged
from kubevirt.virt.changes import difference


async def tell(
    client: Client,
    machines: Fresh[KeptMachine],
    vm: VirtualMachine,
    status: VirtualMachineStatus,
    again: Callable[[Key], None],
) -> VirtualMachine:
    """The machine as it is then; the same one if there was nothing to say."""
    changed = difference(vm.status, status)
    if not changed:
        return vm
    key = Key.of(vm)
    patch = only_if_unchanged(vm, {"status": changed})
    async with machines.writing(key, again) as write:
        write.answer = await client.patch_status(MACHINES, key.name, patch, key.namespace)
    return write.answer.whole
