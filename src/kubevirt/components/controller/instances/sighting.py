"""What a decision about an instance is made by: its pods and what their nodes say, its claims, and what its
machine has noted.
"""

from collections.abc import Iterable
from datetime import datetime

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import PersistentVolumeClaimInfo
from kubevirt.api.machine import VirtualMachine
from kubevirt.components.controller.caches import BY_POD, Caches
from kubevirt.components.controller.kept import KeptClaim, KeptEvent, KeptPod
from kubevirt.kube.key import Key
from kubevirt.virt import nodes
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance.claims import Claims, claims_of, missing
from kubevirt.virt.instance.seen import InstanceSeen
from kubevirt.virt.machine import noting
from kubevirt.virt.ownership import is_owned_by


class Sighting:
    def __init__(self, caches: Caches) -> None:
        self._caches = caches

    def of(
        self,
        vmi: VirtualMachineInstance,
        claims: Claims,
        failure: Failure | None,
        now: datetime,
    ) -> InstanceSeen:
        pods = self._caches.pods.owned_by(vmi.metadata.uid)
        return InstanceSeen(
            pods=tuple(each.whole for each in pods),
            missing_claims=missing(vmi, claims),
            mounting=self._mounting(pods),
            failure=failure,
            is_node_silent=self._is_silent(vmi.status.node_name, now),
            is_noted=noting.is_noted(self._machine(vmi), vmi, now),
        )

    def _is_silent(self, name: str | None, now: datetime) -> bool:
        """Also one that is not there any more."""
        node = self._caches.nodes.get(Key("", name)) if name else None
        if node is None:
            return bool(name)
        return nodes.is_silent(node.metadata.annotations.heartbeat, now)

    def _mounting(self, pods: Iterable[KeptPod]) -> str:
        """What was last said of volumes that cannot be had."""
        told = [
            each
            for pod in pods
            for each in self._caches.mount_troubles.by_index(BY_POD, pod.metadata.uid)
        ]
        return max(told, key=_time_of).message if told else ""

    def claims(self, vmi: VirtualMachineInstance) -> Claims:
        namespace = vmi.metadata.namespace or ""
        found = {
            name: self._caches.claims.get(Key(namespace, name)) for name in claims_of(vmi).values()
        }
        return {name: _info(claim) for name, claim in found.items() if claim is not None}

    def _machine(self, vmi: VirtualMachineInstance) -> VirtualMachine | None:
        """Its owner. A machine's instance has its name."""
        machine = self._caches.machines.get(Key.of(vmi))
        vm = machine.whole if machine is not None else None
        return vm if vm is not None and is_owned_by(vmi, vm) else None


def _time_of(event: KeptEvent) -> float:
    since = event.last_timestamp or event.metadata.creation_timestamp
    return since.timestamp() if since is not None else 0.0


def _info(claim: KeptClaim) -> PersistentVolumeClaimInfo:
    return PersistentVolumeClaimInfo(
        claim_name=claim.metadata.name,
        access_modes=claim.spec.access_modes,
        volume_mode=claim.spec.volume_mode or "Filesystem",
        capacity=claim.status.capacity,
        requests=claim.spec.resources.requests,
    )
