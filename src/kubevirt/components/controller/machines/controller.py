"""Who is looked at when, and what a look does: see, decide, tell, act, and the same again while that changes anything.

The machine's own writes wake nobody (`fresh.py`), so a look goes on until there is nothing left to do, or something is
under way that a watch will show.
"""

from collections.abc import Callable, Iterable

from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.machine import VirtualMachine
from kubevirt.api.scheme import VIRTUAL_MACHINES
from kubevirt.base.clock import Clock
from kubevirt.components.controller.caches import BY_CLAIM, Caches
from kubevirt.components.controller.failures import CarryingOutFailed, Failures
from kubevirt.components.controller.kept import KeptClaim, KeptMachine
from kubevirt.components.controller.machines.carrying import Carrying
from kubevirt.components.controller.machines.sighting import Sighting
from kubevirt.components.controller.machines.status import tell
from kubevirt.components.controller.telling import Teller
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import NotFound
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.expectations import Expectations
from kubevirt.kube.key import Key
from kubevirt.virt.instance import phases
from kubevirt.virt.machine.actions import AddFinalizer, SetAlways
from kubevirt.virt.machine.life import SETTLING, Plan, decide
from kubevirt.virt.ownership import is_owned_by
from kubevirt.virt.spans import end_of

NAME = "virt-controller-vm"
MARGIN_S = 0.001
"""A look at a certain time is to come after it, never a moment before."""
ROUNDS = 5
"""Of one look. More than two or three never occur; what would go round forever waits for its next turn."""


class MachineController:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        caches: Caches,
        recorder: EventRecorder,
        *,
        workers: int,
        before_each: Callable[[], None],
    ) -> None:
        self._client = client
        self._clock = clock
        self._caches = caches
        self._failures = Failures()
        self._sighting = Sighting(client, caches)
        self._expectations: Expectations[Key] = Expectations(clock)
        self.controller: Controller[Key] = Controller(
            NAME,
            self._reconcile,
            clock=clock,
            settings=ControllerSettings(workers=workers),
            wait_for=(caches.revisions,),
            before_each=before_each,
        )
        self._again = self.controller.queue.add
        teller = Teller(recorder, VIRTUAL_MACHINES)
        self._teller = teller
        self._carrying = Carrying(client, caches, teller, self._expectations, self._again)
        self._is_leading = False
        self.controller.watch(caches.machines.informer, self._of_machine)
        self.controller.watch(caches.instances.informer, self._of_instance, when_changed=_matters)
        self.controller.watch(caches.claims, self._of_claim, when_changed=_is_bound)

    async def run(self) -> None:
        """For as long as this process leads. Who does not lead keeps no list of what it would have to do."""
        self._is_leading = True
        try:
            for machine in self._caches.machines.informer:
                self._again(Key.of(machine))
            await self.controller.run()
        finally:
            self._is_leading = False

    def _of_machine(self, change: Change[KeptMachine]) -> Iterable[Key]:
        is_news = self._caches.machines.is_news(change)
        if change.is_deleted:
            self._forget(change.key)
            return ()
        return (change.key,) if is_news and self._is_leading else ()

    def _of_claim(self, change: Change[KeptClaim]) -> Iterable[Key]:
        """Machines whose guests wait for it. One that is made already bound, or goes, changes what its instance says."""
        if not self._is_leading or change.old is None or change.new is None:
            return ()
        users = self._caches.instances.informer.by_index(BY_CLAIM, str(change.key))
        return [Key.of(each) for each in users if not phases.is_final(each)]

    def _of_instance(self, change: Change[VirtualMachineInstance]) -> Iterable[Key]:
        """A machine's instance has its name, and so has one that it may adopt."""
        self._expectations.observe(change.key, change)
        if not self._is_leading or self._is_looked_at_soon(change.key, change.new):
            return ()
        return (change.key,)

    def _is_looked_at_soon(self, key: Key, vmi: VirtualMachineInstance | None) -> bool:
        """Whether it is too early to say anything (`SETTLING`), and there is nothing to do meanwhile."""
        machine, now = self._caches.machines.get(key), self._clock.now()
        if vmi is None or machine is None or not is_owned_by(vmi, machine.whole):
            return False
        if machine.metadata.deletion_timestamp is not None:
            since = machine.metadata.deletion_timestamp if phases.is_ending(vmi) else None
        else:
            is_new = vmi.status.phase == phases.PENDING and not vmi.status.conditions
            since = vmi.metadata.creation_timestamp if is_new else None
        until = end_of(since, SETTLING, now)
        if until is not None:
            self.controller.queue.add_after(key, (until - now).total_seconds() + MARGIN_S)
        return until is not None

    async def _reconcile(self, key: Key) -> Result:
        machine = self._caches.machines.get(key)
        if machine is None:
            return DONE
        if (wait_s := self._expectations.remaining_s(key)) > 0:
            return After(wait_s)
        try:
            return await self._look(key, machine.whole)
        except CarryingOutFailed as failed:
            await self._tell_failure(key, failed)
            raise failed.cause from None
        except NotFound:
            return DONE  # it has gone meanwhile, and the cache will say so

    def _forget(self, key: Key) -> None:
        self._expectations.forget(key)
        self._failures.forget(key)
        self._sighting.forget(key)

    async def _look(self, key: Key, vm: VirtualMachine) -> Result:
        for _ in range(ROUNDS):
            plan = await self._plan(key, vm)
            before = vm
            vm = await tell(self._client, self._caches.machines, vm, plan.status, self._again)
            for happening in plan.happenings if vm is not before else ():
                self._teller.tell(vm, happening)
            for action in plan.actions:
                vm = await self._carrying.out(vm, action)
            self._failures.forget(key)
            own_business = all(isinstance(each, AddFinalizer | SetAlways) for each in plan.actions)
            if vm is before or not own_business:
                return self._next_look(plan)
        self._again(key)
        return DONE

    async def _plan(self, key: Key, vm: VirtualMachine) -> Plan:
        failure = self._failures.of(key, vm.metadata.uid)
        plan = decide(vm, await self._sighting.of(vm, failure), self._clock.now())
        if failure is None or plan.actions:
            return plan
        # What once failed is not wanted any more.
        return decide(vm, await self._sighting.of(vm, None), self._clock.now())

    def _next_look(self, plan: Plan) -> Result:
        if plan.look_again is None:
            return DONE
        wait_s = (plan.look_again - self._clock.now()).total_seconds()
        return After(max(wait_s, 0.0) + MARGIN_S)

    async def _tell_failure(self, key: Key, failed: CarryingOutFailed) -> None:
        machine = self._caches.machines.get(key)
        if machine is None:
            return
        vm = machine.whole
        self._failures.put(key, vm.metadata.uid, failed.failure)
        plan = decide(vm, await self._sighting.of(vm, failed.failure), self._clock.now())
        await tell(self._client, self._caches.machines, vm, plan.status, self._again)


def _is_bound(claim: KeptClaim) -> object:
    return claim.is_bound


def _matters(vmi: VirtualMachineInstance) -> object:
    """The part of an instance that a machine's life depends on."""
    status = vmi.status
    return (
        vmi.metadata.deletion_timestamp,
        vmi.metadata.owner_references,
        status.phase in phases.UNSCHEDULED | {phases.SCHEDULED} or status.phase,
        status.conditions,
        status.migration_state,
    )
