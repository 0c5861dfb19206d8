"""What a new instance begins its life with: a phase, a finalizer, marks of how it was made.

A status that came with the object is dropped: whoever may create an instance may not say that it runs. Only what its
machine has kept a copy of its spec under stays, which changes nothing for anybody.
"""

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import (
    VirtualMachineInstancePhaseTransitionTimestamp,
    VirtualMachineInstanceStatus,
)
from kubevirt.virt.annotations import PCI_TOPOLOGY_VERSION
from kubevirt.virt.instance.names import FINALIZER, MACHINE_FINALIZER

OURS: Final = (FINALIZER, MACHINE_FINALIZER)
PENDING: Final = "Pending"
PCI_TOPOLOGY: Final = "v3"
RUNTIME_USER: Final = 107
"""Also where gate `Root` is open: launchers are never root, so no status may say so."""


def born(
    vmi: VirtualMachineInstance, configuration: KubeVirtConfiguration, now: datetime
) -> VirtualMachineInstance:
    meta = vmi.metadata
    finalizers = meta.finalizers if FINALIZER in meta.finalizers else (*meta.finalizers, FINALIZER)
    annotations = {PCI_TOPOLOGY_VERSION: PCI_TOPOLOGY, **meta.annotations}
    strategy = vmi.spec.eviction_strategy or configuration.eviction_strategy or "None"
    return replace(
        vmi,
        metadata=replace(meta, finalizers=finalizers, annotations=annotations),
        spec=replace(vmi.spec, eviction_strategy=strategy),
        status=VirtualMachineInstanceStatus(
            phase=PENDING,
            phase_transition_timestamps=(
                VirtualMachineInstancePhaseTransitionTimestamp(
                    phase=PENDING, phase_transition_timestamp=now
                ),
            ),
            runtime_user=RUNTIME_USER,
            virtual_machine_revision_name=vmi.status.virtual_machine_revision_name,
        ),
    )
