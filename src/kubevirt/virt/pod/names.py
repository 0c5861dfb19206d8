"""Names in a launcher's pod: what others look for, and how a long name is made to fit."""

import hashlib
import re
from typing import Final

from kubevirt.virt.errors import SpecError, shown

APP: Final = "kubevirt.io"
LAUNCHER: Final = "virt-launcher"
CREATED_BY: Final = "kubevirt.io/created-by"
DOMAIN: Final = "kubevirt.io/domain"
VM_NAME: Final = "vm.kubevirt.io/name"
INSTANCE_ID: Final = "vmi.kubevirt.io/id"
SCHEDULABLE: Final = "kubevirt.io/schedulable"
CPU_MANAGER: Final = "kubevirt.io/cpumanager"
REALTIME: Final = "kubevirt.io/realtime"
CPU_MODEL: Final = "cpu-model.node.kubevirt.io"
CPU_FEATURE: Final = "cpu-feature.node.kubevirt.io"
MEMORY_OVERHEAD: Final = "kubevirt.io/memory-overhead-bytes"
DEFAULT_CONTAINER: Final = "kubectl.kubernetes.io/default-container"
ISTIO_INTERFACES: Final = "traffic.sidecar.istio.io/kubevirtInterfaces"

COMPUTE: Final = "compute"

LABEL_LIMIT: Final = 63
HASH_LENGTH: Final = 10

_LABEL: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def label(thing: str, name: str) -> str:
    """The name, if Kubernetes takes it for a volume or a host: one label of DNS."""
    if not _LABEL.fullmatch(name):
        raise SpecError(
            f"the {thing} {shown(name)} cannot be a name in a pod; use at most {LABEL_LIMIT} small "
            f"letters, digits and dashes, a letter or digit first and last",
            reason="InvalidName",
        )
    return name


def label_value(name: str) -> str:
    """The name as the value of a label, which may have dots but is no longer than one."""
    return name if len(name) <= LABEL_LIMIT else fitting(name)


def fitting(name: str, limit: int = LABEL_LIMIT) -> str:
    """The name itself if it is short enough and has no dots; else its beginning and a hash of it.

    A hash keeps apart what the cut would make equal.
    """
    if len(name) <= limit and "." not in name:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:HASH_LENGTH]
    return f"{name.replace('.', '-')[: limit - HASH_LENGTH - 1].rstrip('-')}-{digest}"
