"""What virt-controller watches. All of it is shared by its controllers.

Pods are not picked by their labels: whoever takes a label off a launcher's pod must not make it look as if it were
gone, since then a second guest would be started beside the first.
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
    LAUNCHER_PODS,
    MACHINES,
    REVISIONS,
    KeptClaim,
    KeptMachine,
    KeptPod,
)
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.source import Source
from kubevirt.virt.instance.claims import claims_of

BY_CLAIM: Final = "claim"
"""Index of instances: the claims that they use."""


@dataclass(frozen=True)
class Caches:
    machines: Fresh[KeptMachine]
    instances: Fresh[VirtualMachineInstance]
    pods: Fresh[KeptPod]
    claims: Informer[KeptClaim]
    revisions: Informer[PartialObjectMetadata]

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
        )

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            for informer in self.informers:
                tasks.create_task(informer.run())

    @property
    def informers(self) -> tuple[Informer[Any], ...]:
        fresh = (self.machines, self.instances, self.pods)
        return (*(each.informer for each in fresh), self.claims, self.revisions)

    @property
    def are_synced(self) -> bool:
        return all(each.is_synced for each in self.informers)


def _claims(vmi: VirtualMachineInstance) -> tuple[str, ...]:
    namespace = vmi.metadata.namespace or ""
    return tuple(str(Key(namespace, name)) for name in claims_of(vmi).values())
