"""What virt-controller sees of an instance and decides by."""

import msgspec

from kubevirt.api.core.pod import Pod
from kubevirt.virt.happening import Failure


class InstanceSeen(msgspec.Struct, frozen=True, kw_only=True):
    pods: tuple[Pod, ...] = ()
    """The launcher's: those whose controller is the instance, by UID. Deleted ones until they are gone."""
    missing_claims: tuple[str, ...] = ()
    """Claims that the instance's volumes name and that do not exist."""
    mounting: str = ""
    """Why the node cannot give the pod its volumes, in the node's words; empty if it did not say so."""
    failure: Failure | None = None
    """What the last try to create the pod came to, if it was refused."""
    is_node_silent: bool = False
    """Nobody has looked after guests on its node for too long: what became of this one is not known."""
    is_noted: bool = True
    """Whether the machine that owns the instance has noted how it ended, or need not:
    `machine.noting.is_noted`. True for an instance without a machine."""
