"""Instances: what may be created, and what may change afterwards."""

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.validate.causes import Cause, Causes, first, not_supported
from kubevirt.virt.validate.filled import filled_spec_causes
from kubevirt.virt.validate.hotplug import hotplug_causes
from kubevirt.virt.validate.instance_spec import spec_causes
from kubevirt.virt.validate.missing import sidecar_causes
from kubevirt.virt.validate.ownership import changed_label_causes, new_label_causes, node_causes
from kubevirt.virt.validate.requester import Requester
from kubevirt.virt.validate.rules import Rules

FIELD = "spec"


def created(vmi: VirtualMachineInstance, requester: Requester, rules: Rules) -> tuple[Cause, ...]:
    return first(_created(vmi, requester, rules))


def updated(
    old: VirtualMachineInstance,
    new: VirtualMachineInstance,
    requester: Requester,
    rules: Rules,
) -> tuple[Cause, ...]:
    """A guest that runs is what it was started as. Only our components change its spec, for hotplug.

    An unchanged spec is not looked at: rules that grew stricter must not keep a status from being
    written, nor a finalizer from being taken off.
    """
    return first(_updated(old, new, requester, rules))


def _created(vmi: VirtualMachineInstance, requester: Requester, rules: Rules) -> Causes:
    yield from filled_spec_causes(vmi.spec, vmi.metadata, FIELD, rules)
    yield from sidecar_causes(vmi.metadata.annotations, "metadata", rules)
    yield from new_label_causes(vmi.metadata.labels, requester)


def _updated(
    old: VirtualMachineInstance,
    new: VirtualMachineInstance,
    requester: Requester,
    rules: Rules,
) -> Causes:
    yield from node_causes(old, new, requester, rules)
    if new.spec != old.spec:
        if requester.is_ours:
            yield from spec_causes(new.spec, FIELD, rules)
            yield from hotplug_causes(old.spec, new.spec, FIELD)
        else:
            yield not_supported("", "update of VMI object is restricted")
    yield from changed_label_causes(old.metadata.labels, new.metadata.labels, requester)
