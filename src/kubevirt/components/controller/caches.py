"""What virt-controller watches. All of it is shared by its controllers.

Pods are not picked by their labels: whoever takes a label off a launcher's pod must not make it look as if it were
gone, since then a second guest would be started beside the first.

DataVolumes are not among it: admission refuses whoever names one, and where there is no CDI, nobody serves their kind.
"""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.meta import PartialObjectMetadata
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import Clock
from kubevirt.components.controller.fresh import Fresh
from kubevirt.components.controller.kept import (
    CLAIMS,
    EVENTS,
    LAUNCHER_PODS,
    MACHINES,
    NODES,
    REVISIONS,
    KeptClaim,
    KeptEvent,
    KeptMachine,
    KeptNode,
    KeptPod,
)
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.source import Source
from kubevirt.virt.instance.claims import claims_of
from kubevirt.virt.pod import devices

BY_CLAIM: Final = "claim"
"""Index of instances: the claims that they use."""
BY_POD: Final = "pod"
"""Index of events: the UID of the pod that they tell of."""
MOUNT_TROUBLES: Final = "reason=FailedMount,involvedObject.kind=Pod"
"""A pod whose volumes cannot be had says so in events, and nowhere else."""


@dataclass(frozen=True)
class Caches:
    machines: Fresh[KeptMachine]
    instances: Fresh[VirtualMachineInstance]
    pods: Fresh[KeptPod]
    claims: Informer[KeptClaim]
    revisions: Informer[PartialObjectMetadata]
    mount_troubles: Informer[KeptEvent]
    nodes: Informer[KeptNode]

    @classmethod
    def of(cls, source: Source, clock: Clock) -> "Caches":
        return cls(
            machines=Fresh(Informer(source, MACHINES, clock=clock)),
            instances=Fresh(
                Informer(
                    source,
                    VIRTUAL_MACHINE_INSTANCES,
                    clock=clock,
                    indexes={BY_CLAIM: _claims},
                )
            ),
            pods=Fresh(Informer(source, LAUNCHER_PODS, clock=clock)),
            claims=Informer(source, CLAIMS, clock=clock),
            revisions=Informer(source, REVISIONS, clock=clock),
            nodes=Informer(source, NODES, clock=clock),
            mount_troubles=Informer(
                source,
                EVENTS,
                clock=clock,
                field_selector=MOUNT_TROUBLES,
                indexes={BY_POD: lambda event: event.involved_object.uid},
            ),
        )

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for informer in self.informers:
                tasks.create_task(informer.run())

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        fresh = (self.machines, self.instances, self.pods)
        others = (self.claims, self.revisions, self.mount_troubles, self.nodes)
        return (*(each.informer for each in fresh), *others)

    async def wait_synced(self) -> None:
        for informer in self.informers:
            await informer.wait_synced()

    @property
    def devices(self) -> frozenset[str]:
        """What launchers may ask their nodes for."""
        return devices.offered(each.resources for each in self.nodes if each.is_open)


def _claims(vmi: VirtualMachineInstance) -> tuple[str, ...]:
    namespace = vmi.metadata.namespace or ""
    return tuple(str(Key(namespace, name)) for name in claims_of(vmi).values())
