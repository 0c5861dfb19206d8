"""Who is looked at when, and what a look does: see, decide, tell, act, and the same again while that changes anything.

As with machines, the controller's own writes wake nobody.
"""

from collections.abc import Callable, Iterable
from typing import Any

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry
from kubevirt.components.controller.caches import BY_CLAIM, Caches
from kubevirt.components.controller.failures import CarryingOutFailed, Failures
from kubevirt.components.controller.instances.carrying import Carrying
from kubevirt.components.controller.instances.sighting import Sighting
from kubevirt.components.controller.instances.status import tell, wanted
from kubevirt.components.controller.kept import KeptClaim, KeptEvent, KeptMachine, KeptPod
from kubevirt.components.controller.telling import Teller
from kubevirt.kube.cache.store import Change
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Controller, ControllerSettings, Result
from kubevirt.kube.errors import NotFound, Refused
from kubevirt.kube.events import EventRecorder
from kubevirt.kube.expectations import Expectations
from kubevirt.kube.key import Key
from kubevirt.kube.triggers import owner_in
from kubevirt.virt.instance import phases
from kubevirt.virt.instance.claims import Claims
from kubevirt.virt.instance.life import Plan, decide
from kubevirt.virt.ownership import controller_of

NAME = "virt-controller-vmi"
MARGIN_S = 0.001
ROUNDS = 5
UNRENDERABLE_S = 60.0
"""After which a pod that could not be made is tried again: the settings of the cluster may allow it by then."""

_PLACED = ("PodScheduled", "True")


class InstanceController:
    def __init__(
        self,
        client: Client,
        clock: Clock,
        caches: Caches,
        recorder: EventRecorder,
        *,
        configuration: Callable[[], KubeVirtConfiguration],
        launcher_image: str,
        workers: int,
        before_each: Callable[[], None],
    ) -> None:
        self._client = client
        self._clock = clock
        self._caches = caches
        self._failures = Failures()
        self._sighting = Sighting(caches)
        self._expectations: Expectations[Key] = Expectations(clock)
        self.controller: Controller[Key] = Controller(
            NAME,
            self._reconcile,
            clock=clock,
            settings=ControllerSettings(workers=workers),
            wait_for=(caches.nodes,),
            before_each=before_each,
        )
        self._again = self.controller.queue.add
        teller = Teller(recorder, VIRTUAL_MACHINE_INSTANCES)
        self._carrying = Carrying(
            client,
            clock,
            caches,
            teller,
            self._expectations,
            configuration=configuration,
            launcher_image=launcher_image,
            again=self._again,
        )
        self._teller = teller
        self._owner = owner_in(caches.instances.informer)
        self._is_leading = False
        self.controller.watch(caches.instances.informer, self._of_instance)
        self.controller.watch(caches.pods.informer, self._of_pod)
        self.controller.watch(caches.machines.informer, self._of_machine)
        self.controller.watch(caches.claims, self._of_claim)
        self.controller.watch(caches.mount_troubles, self._of_mount_trouble)

    async def run(self) -> None:
        """For as long as this process leads. Who does not lead keeps no list of what it would have to do."""
        self._is_leading = True
        try:
            for vmi in self._caches.instances.informer:
                self._again(Key.of(vmi))
            await self.controller.run()
        finally:
            self._is_leading = False

    # Who is looked at

    def _of_instance(self, change: Change[VirtualMachineInstance]) -> Iterable[Key]:
        is_news = self._caches.instances.is_news(change) and _is_changed(change, _of_interest)
        if change.is_deleted:  # another of its name expects nothing, and has not failed
            self._expectations.forget(change.key)
            self._failures.forget(change.key)
            return ()
        return (change.key,) if is_news and self._is_leading else ()

    def _of_pod(self, change: Change[KeptPod]) -> Iterable[Key]:
        owners = list(self._owner(change))
        for owner in owners:
            self._expectations.observe(owner, change)
        is_news = self._caches.pods.is_news(change) and _is_changed(change, _of_pods_interest)
        return owners if is_news and self._is_leading else ()

    def _of_machine(self, change: Change[KeptMachine]) -> Iterable[Key]:
        """An instance that is to go waits until its machine has noted how it ended."""
        vmi = self._caches.instances.get(change.key)
        is_waiting = vmi is not None and phases.is_ending(vmi)
        return (change.key,) if is_waiting and self._is_leading else ()

    def _of_claim(self, change: Change[KeptClaim]) -> Iterable[Key]:
        if not self._is_leading:
            return ()
        users = self._caches.instances.informer.by_index(BY_CLAIM, str(change.key))
        return [Key.of(each) for each in users if each.status.phase in phases.UNSCHEDULED]

    def _of_mount_trouble(self, change: Change[KeptEvent]) -> Iterable[Key]:
        """The instance whose pod it is about, if there is one yet: else the pod will bring it here."""
        about = change.new.involved_object if change.new is not None else None
        if about is None or not self._is_leading:
            return ()
        pod = self._caches.pods.get(Key(about.namespace or "", about.name or ""))
        owner = controller_of(pod.whole) if pod is not None else None
        return (Key(about.namespace or "", owner.name),) if owner is not None else ()

    # What a look does

    async def _reconcile(self, key: Key) -> Result:
        vmi = self._caches.instances.get(key)
        if vmi is None:
            return DONE
        if (wait_s := self._expectations.remaining_s(key)) > 0:
            return After(wait_s)
        try:
            return await self._look(key, vmi)
        except CarryingOutFailed as failed:
            await self._tell_failure(key, failed)
            if isinstance(failed.cause, Refused | Retry):
                raise failed.cause from None
            return After(UNRENDERABLE_S)
        except NotFound:
            return DONE  # it has gone meanwhile, and the cache will say so

    async def _look(self, key: Key, vmi: VirtualMachineInstance) -> Result:
        for _ in range(ROUNDS):
            claims = self._sighting.claims(vmi)
            plan = self._plan(key, vmi, claims)
            before = vmi
            vmi = await self._tell(vmi, plan, claims)
            for action in plan.actions:
                await self._carrying.out(vmi, action, claims)
            self._failures.forget(key)
            if vmi is before or plan.actions:
                return self._next_look(plan)
        self._again(key)
        return DONE

    def _plan(self, key: Key, vmi: VirtualMachineInstance, claims: Claims) -> Plan:
        failure, now = self._failures.of(key, vmi.metadata.uid), self._clock.now()
        plan = decide(vmi, self._sighting.of(vmi, claims, failure, now), now)
        if failure is None or plan.actions:
            return plan
        # What once failed is not wanted any more.
        return decide(vmi, self._sighting.of(vmi, claims, None, now), now)

    async def _tell(
        self, vmi: VirtualMachineInstance, plan: Plan, claims: Claims
    ) -> VirtualMachineInstance:
        after = wanted(vmi, plan, claims)
        told = await tell(self._client, self._caches.instances, vmi, after, self._again)
        for happening in plan.happenings if told is not vmi else ():
            self._teller.tell(vmi, happening)
        return told

    def _next_look(self, plan: Plan) -> Result:
        if plan.look_again is None:
            return DONE
        wait_s = (plan.look_again - self._clock.now()).total_seconds()
        return After(max(wait_s, 0.0) + MARGIN_S)

    async def _tell_failure(self, key: Key, failed: CarryingOutFailed) -> None:
        vmi = self._caches.instances.get(key)
        if vmi is None:
            return
        self._failures.put(key, vmi.metadata.uid, failed.failure)
        claims = self._sighting.claims(vmi)
        await self._tell(vmi, self._plan(key, vmi, claims), claims)


def _is_changed(change: Change[Any], part: Callable[[Any], object]) -> bool:
    old, new = change.old, change.new
    return old is None or new is None or part(old) != part(new)


def _of_interest(vmi: VirtualMachineInstance) -> object:
    """The part of an instance that is virt-controller's business: what the guest does otherwise is not."""
    status = vmi.status
    return (
        vmi.metadata.deletion_timestamp,
        vmi.metadata.finalizers,
        vmi.metadata.labels,
        status.phase,
        status.conditions,
        status.active_pods,
        status.node_name,
    )


def _of_pods_interest(pod: KeptPod) -> object:
    """That it was given a node is nothing to act upon; that there is none for it is."""
    status = pod.status
    return (
        pod.metadata.deletion_timestamp,
        status.phase,
        status.reason,
        status.container_statuses,
        status.init_container_statuses,
        [each for each in status.conditions if (each.type, each.status) != _PLACED],
    )
