"""The copy that is kept of a machine's spec at each start: what a running guest was made from."""

from typing import Any, Final

import msgspec

from kubevirt.api.core.workloads import ControllerRevision
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineSpec
from kubevirt.api.meta import ObjectMeta
from kubevirt.virt.ownership import reference_to

GENERATION: Final = "kubevirt.io/vm-generation"
"""Annotation of an instance: the generation of the machine that it was made from."""


def prefix(vm: VirtualMachine) -> str:
    return f"revision-start-vm-{vm.metadata.uid}-"


def name(vm: VirtualMachine) -> str:
    return f"{prefix(vm)}{vm.metadata.generation or 0}"


def of(vm: VirtualMachine) -> ControllerRevision:
    spec: dict[str, Any] = msgspec.to_builtins(vm.spec)
    return ControllerRevision(
        api_version="apps/v1",
        kind="ControllerRevision",
        metadata=ObjectMeta(
            name=name(vm),
            namespace=vm.metadata.namespace,
            owner_references=(reference_to(vm, "VirtualMachine"),),
        ),
        data={"spec": spec},
        revision=vm.metadata.generation or 0,
    )


def spec_in(revision: ControllerRevision) -> VirtualMachineSpec | None:
    """What it keeps; None if that is nothing of ours."""
    try:
        return msgspec.convert(revision.data.get("spec"), VirtualMachineSpec)
    except msgspec.ValidationError:
        return None


def generation_of(vmi: VirtualMachineInstance) -> int | None:
    text = vmi.metadata.annotations.get(GENERATION, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
