"""Whose launcher it is: an instance by its UID, and the pod that it runs in by its own."""

import re
from typing import Final

import msgspec

from kubevirt.api.core.references import ObjectReference
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.kube.key import Key

_UID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,62}")


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    namespace: str
    name: str
    uid: str
    """Of the instance."""
    pod: str
    """UID of its pod on this node: the name of the pod's folder."""

    @property
    def key(self) -> Key:
        return Key(self.namespace, self.name)

    @property
    def reference(self) -> ObjectReference:
        """What events are about."""
        return ObjectReference(
            api_version=VIRTUAL_MACHINE_INSTANCES.api_version,
            kind=VIRTUAL_MACHINE_INSTANCES.kind,
            namespace=self.namespace,
            name=self.name,
            uid=self.uid,
        )


def identity_of(vmi: VirtualMachineInstance, node: str) -> Identity | None:
    """None if it has no pod on this node. virt-controller writes down which pods are the instance's."""
    here = [pod for pod, where in vmi.status.active_pods.items() if where == node]
    if len(here) != 1 or not is_uid(here[0]) or not is_uid(vmi.metadata.uid):
        return None
    return Identity(
        namespace=vmi.metadata.namespace or "",
        name=vmi.metadata.name,
        uid=vmi.metadata.uid,
        pod=here[0],
    )


def is_uid(text: str) -> bool:
    """Whether it can be the name of a folder, and no way out of one."""
    return _UID.fullmatch(text) is not None
