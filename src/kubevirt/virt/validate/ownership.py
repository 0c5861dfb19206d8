"""What belongs to our components: reserved labels, status, and a node's own instances."""

from collections.abc import Mapping
from typing import Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.virt.gates import NODE_RESTRICTION
from kubevirt.virt.validate.causes import Causes, forbidden, invalid, not_supported
from kubevirt.virt.validate.requester import HANDLER, Requester
from kubevirt.virt.validate.rules import Rules

RESERVED: Final = (
    "kubevirt.io/created-by",
    "kubevirt.io/migrationJobUID",
    "kubevirt.io/nodeName",
    "kubevirt.io/migrationTargetNodeName",
    "kubevirt.io/schedulable",
    "kubevirt.io/install-strategy",
)

Labels = Mapping[str, str]


def new_label_causes(labels: Labels, requester: Requester) -> Causes:
    if not requester.is_ours and any(name in labels for name in RESERVED):
        yield not_supported(
            "metadata.labels",
            "creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited",
        )


def changed_label_causes(old: Labels, new: Labels, requester: Requester) -> Causes:
    if requester.is_ours:
        return
    if any(old.get(name) != new.get(name) for name in RESERVED):
        yield not_supported(
            "metadata.labels",
            "modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited",
        )


def status_causes(requester: Requester) -> Causes:
    """For a write to a status subresource."""
    if not (requester.is_ours or requester.is_administrator):
        yield forbidden(
            "status",
            "status is written by KubeVirt's own components; to start or stop a machine use "
            "virtctl, or change spec.runStrategy",
        )


def node_causes(
    old: VirtualMachineInstance,
    new: VirtualMachineInstance,
    requester: Requester,
    rules: Rules,
) -> Causes:
    """A node that was broken into must not reach the guests of others through its virt-handler."""
    if requester.component != HANDLER or not rules.gate(NODE_RESTRICTION):
        return
    if requester.node is None:
        yield invalid(
            "",
            "Node restriction failed, virt-handler service account is missing node name",
        )
        return
    target = _target(old)
    if requester.node not in (old.status.node_name, target or old.status.node_name):
        yield invalid("", "Node restriction, virt-handler is only allowed to modify VMIs it owns")
    elif target is None and _target(new) is not None:
        yield invalid("", "Node restriction, virt-handler is not allowed to set target node")


def _target(vmi: VirtualMachineInstance) -> str | None:
    state = vmi.status.migration_state
    return (state.target_node if state else None) or None
