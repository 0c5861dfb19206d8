"""What a decision about a machine is made by: its instance, and the copies that are kept of its spec."""

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine, VirtualMachineSpec
from kubevirt.api.scheme import CONTROLLER_REVISIONS
from kubevirt.components.controller.caches import Caches
from kubevirt.kube.client import Client
from kubevirt.kube.errors import NotFound
from kubevirt.kube.key import Key
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance import phases
from kubevirt.virt.instance.claims import claims_of
from kubevirt.virt.machine import revision
from kubevirt.virt.machine.seen import MachineSeen
from kubevirt.virt.ownership import is_owned_by


class Sighting:
    def __init__(self, client: Client, caches: Caches) -> None:
        self._client = client
        self._caches = caches
        self._contents: dict[Key, tuple[str, VirtualMachineSpec | None]] = {}
        """The copy that a running guest was made from, by its name, where that is not the present spec."""

    async def of(self, vm: VirtualMachine, failure: Failure | None) -> MachineSeen:
        vmi = self._caches.instances.get(Key.of(vm))
        return MachineSeen(
            instance=vmi,
            revisions=await self._revisions(vm, vmi),
            has_unbound_claims=vmi is not None and self._waits_for_claims(vmi),
            failure=failure,
        )

    def _waits_for_claims(self, vmi: VirtualMachineInstance) -> bool:
        """A launcher's pod that was given to its node has its volumes."""
        if vmi.status.phase not in phases.UNSCHEDULED:
            return False
        namespace = vmi.metadata.namespace or ""
        claims = (self._caches.claims.get(Key(namespace, name)) for name in claims_of(vmi).values())
        return any(claim is not None and not claim.is_bound for claim in claims)

    def forget(self, key: Key) -> None:
        self._contents.pop(key, None)

    async def _revisions(
        self, vm: VirtualMachine, vmi: VirtualMachineInstance | None
    ) -> dict[str, VirtualMachineSpec]:
        """Of most only the name counts. Only the one that a guest was made from is compared."""
        owned = self._caches.revisions.owned_by(vm.metadata.uid)
        found = {each.metadata.name: vm.spec for each in owned}
        name = _made_from(vm, vmi)
        if name in found:
            content = await self._content(Key.of(vm), name)
            found |= {name: content} if content else {}
            if content is None:
                del found[name]
        else:
            self.forget(Key.of(vm))
        return found

    async def _content(self, key: Key, name: str) -> VirtualMachineSpec | None:
        known = self._contents.get(key)
        if known is None or known[0] != name:  # it never changes
            try:
                copy = await self._client.get(CONTROLLER_REVISIONS, name, key.namespace)
            except NotFound:
                return None
            known = self._contents[key] = (name, revision.spec_in(copy))
        return known[1]


def _made_from(vm: VirtualMachine, vmi: VirtualMachineInstance | None) -> str:
    """The copy that tells what the guest was made from; empty if that is how the machine is now."""
    if vmi is None or not is_owned_by(vmi, vm):
        return ""
    if revision.generation_of(vmi) in {None, vm.metadata.generation}:
        return ""
    return vmi.status.virtual_machine_revision_name or ""
