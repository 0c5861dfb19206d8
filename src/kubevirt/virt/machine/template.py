"""The instance that a start creates: the machine's template, and who it belongs to."""

import uuid

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.defaults.identity import Identity, with_identity
from kubevirt.virt.defaults.instance import FIRMWARE_UUIDS
from kubevirt.virt.errors import SpecError
from kubevirt.virt.instance import names
from kubevirt.virt.machine import revision
from kubevirt.virt.ownership import reference_to


def instance_of(vm: VirtualMachine, *, is_paused: bool = False) -> VirtualMachineInstance:
    template = vm.spec.template
    if template.spec is None:
        raise SpecError("missing virtual machine template.")
    spec = _with_identity(template.spec, vm.metadata.name)
    if is_paused:
        spec = replace(spec, start_strategy="Paused")
    made_from = {revision.GENERATION: str(vm.metadata.generation or 0)}
    return VirtualMachineInstance(
        api_version="kubevirt.io/v1",
        kind="VirtualMachineInstance",
        metadata=ObjectMeta(
            name=vm.metadata.name,
            namespace=vm.metadata.namespace,
            labels=dict(template.metadata.labels),
            annotations={**template.metadata.annotations, **made_from},
            owner_references=(reference_to(vm, "VirtualMachine"),),
            finalizers=(names.MACHINE_FINALIZER,),
        ),
        spec=spec,
        status=VirtualMachineInstanceStatus(virtual_machine_revision_name=revision.name(vm)),
    )


def _with_identity(spec: VirtualMachineInstanceSpec, name: str) -> VirtualMachineInstanceSpec:
    """A guest knows itself by its UUID, so it must be the same at each start.

    Machines have one since they were made (`defaults/identity.py`). For one that was made before there was such a
    rule, it follows from the name, as it always has.
    """
    return with_identity(spec, Identity(uuid=str(uuid.uuid5(FIRMWARE_UUIDS, name))))
