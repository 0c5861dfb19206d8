"""virt-handler's part: guests of instances that are scheduled begin to run, and end when they are asked to."""

from collections.abc import Iterable
from contextlib import suppress

from msgspec.structs import replace

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import Clock
from kubevirt.base.tasks import background
from kubevirt.components.controller.fresh import Fresh
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, Controller, ControllerSettings, Result
from kubevirt.kube.errors import NotFound
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.kube.patches import only_if_unchanged
from kubevirt.testing.fake_pods import FakePods
from kubevirt.virt.changes import difference
from kubevirt.virt.instance import domain as domains
from kubevirt.virt.instance import guest, phases
from kubevirt.virt.instance.domain import Card, DomainSeen, GuestSeen


class FakeGuests:
    def __init__(self, client: Client, clock: Clock, pods: FakePods, *, workers: int) -> None:
        self.cache: Fresh[VirtualMachineInstance] = Fresh(
            Informer(client, VIRTUAL_MACHINE_INSTANCES, clock=clock)
        )
        self.unwilling: set[str] = set()
        """Instances, by name, whose guests are not started."""
        self._client = client
        self._clock = clock
        self._pods = pods
        self._domains: dict[str, DomainSeen] = {}
        """By UID of the instance."""
        self._controller: Controller[Key] = Controller(
            "fake-virt-handler",
            self._reconcile,
            clock=clock,
            settings=ControllerSettings(workers=workers),
        )
        self._controller.watch(self.cache.informer, self._of_instance)

    async def run(self) -> None:
        async with background(self.cache.informer.run(), self._pods.cache.informer.wait_synced()):
            await self._controller.run()

    # What may happen to a guest

    def power_off(self, key: Key) -> None:
        self._become(key, state=domains.SHUT_OFF, reason="Shutdown")

    def crash(self, key: Key) -> None:
        self._become(key, state=domains.CRASHED, reason="Panicked")

    def pause(self, key: Key) -> None:
        self._become(key, state=domains.PAUSED, reason="User")

    def unpause(self, key: Key) -> None:
        self._become(key, state=domains.RUNNING, reason="Unpaused")

    def _become(self, key: Key, *, state: str, reason: str) -> None:
        vmi = self.cache.get(key)
        if vmi is None or vmi.metadata.uid not in self._domains:
            raise LookupError(f"{key} has no guest")
        known = self._domains[vmi.metadata.uid]
        self._domains[vmi.metadata.uid] = replace(known, state=state, reason=reason)
        self._controller.queue.add(key)

    # What virt-handler does

    def _of_instance(self, change: Change[VirtualMachineInstance]) -> Iterable[Key]:
        if change.is_deleted:
            self._domains.pop(change.object.metadata.uid, None)
        return (change.key,) if self.cache.is_news(change) else ()

    async def _reconcile(self, key: Key) -> Result:
        vmi = self.cache.get(key)
        if vmi is None or vmi.status.phase in phases.UNSCHEDULED:
            return DONE
        self._drive(vmi)
        seen = GuestSeen(
            domain=self._domains.get(vmi.metadata.uid),
            pod_addresses=tuple(
                each.status.pod_ip for each in self._pods.of(vmi.metadata.uid) if each.status.pod_ip
            ),
        )
        is_waiting = seen.domain is None and not phases.is_ending(vmi)
        status = vmi.status if is_waiting else guest.told(vmi, seen, self._clock.now())
        if changed := difference(vmi.status, status):
            patch = only_if_unchanged(vmi, {"status": changed})
            with suppress(NotFound):
                async with self.cache.writing(key, self._controller.queue.add) as write:
                    write.answer = await self._client.patch(
                        VIRTUAL_MACHINE_INSTANCES, key.name, patch, key.namespace
                    )
        if status.phase in phases.FINAL:
            for pod in self._pods.of(vmi.metadata.uid):
                self._pods.end(pod)
        return DONE

    def _drive(self, vmi: VirtualMachineInstance) -> None:
        uid, known = vmi.metadata.uid, self._domains.get(vmi.metadata.uid)
        if phases.is_final(vmi):
            self._domains.pop(uid, None)
        elif phases.is_ending(vmi):
            if known is not None and known.state in domains.ALIVE:
                self._domains[uid] = replace(known, state=domains.SHUT_OFF, reason="Shutdown")
        elif known is None and vmi.metadata.name not in self.unwilling:
            self._domains[uid] = _booted(vmi)


def _booted(vmi: VirtualMachineInstance) -> DomainSeen:
    is_paused = vmi.spec.start_strategy == "Paused" and vmi.status.phase == phases.SCHEDULED
    return DomainSeen(
        state=domains.PAUSED if is_paused else domains.RUNNING,
        reason="StartingUp" if is_paused else "Booted",
        machine="pc-q35-7.2",
        cards=tuple(
            Card(name=each.name, mac=each.mac_address or "02:00:00:00:00:01")
            for each in vmi.spec.domain.devices.interfaces
        ),
    )
