"""Those who serve a part of the API elsewhere: each has an attendant, who looks whether they are there.

    look at the Service → ask → write what came out of it → ask what is served → wait

for a change of the APIService, of the Service or of its endpoints, or for some time: that a program has died
is no event here. An answer is asked for again soon at first, then ever more rarely. Nothing is written that is
written already. Nobody waits for an attendant, whoever it waits for.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from kubevirt.apiserver.aggregation import availability, registration
from kubevirt.apiserver.aggregation.asking import Questions
from kubevirt.apiserver.aggregation.description import Description
from kubevirt.apiserver.aggregation.descriptions import Descriptions
from kubevirt.apiserver.aggregation.looking import Lookout
from kubevirt.apiserver.aggregation.registration import Condition, Registration, ServiceRef
from kubevirt.apiserver.aggregation.registrations import Registrations
from kubevirt.apiserver.aggregation.writing import OwnWrites
from kubevirt.apiserver.callees.callees import Callees
from kubevirt.apiserver.registry.registry import Registry
from kubevirt.base.log import get_logger

log = get_logger(__name__)

AGAIN_S: Final = 30.0
"""Until one that answers is asked again, and the longest until one that does not is."""
SOON_S: Final = 0.1


class _Attendant:
    def __init__(self, registration: Registration) -> None:
        self.registration = registration
        self.woken = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    @property
    def service(self) -> ServiceRef:
        return self.registration.service or ServiceRef()


class Attendants:
    def __init__(
        self,
        registry: Registry,
        callees: Callees,
        questions: Questions,
        registrations: Registrations,
        descriptions: Descriptions,
    ) -> None:
        self._registry = registry
        self._questions = questions
        self._lookout = Lookout(registry, callees, questions)
        self._registrations = registrations
        self._descriptions = descriptions
        self._kind = registry.catalog.kind("apiregistration.k8s.io", "apiservices")
        self._writes = OwnWrites(registry, self._kind)
        self._attendants: dict[str, _Attendant] = {}

    # Who is attended to

    def changed(self, names: Iterable[str], tasks: asyncio.TaskGroup) -> None:
        """APIServices of these names are others by now, or gone."""
        for name in names:
            known = self._registrations.get(name)
            if known is None or known.service is None:
                self._dismiss(name)
            else:
                self._attend(known, tasks)

    def _attend(self, known: Registration, tasks: asyncio.TaskGroup) -> None:
        found = self._attendants.get(known.name)
        if found is None:
            found = self._attendants[known.name] = _Attendant(known)
            found.task = tasks.create_task(self._run(found))
            return
        before, found.registration = found.registration, known
        if not before.is_same_but_for_availability(known):
            found.woken.set()

    def _dismiss(self, name: str) -> None:
        gone = self._attendants.pop(name, None)
        if gone and gone.task:
            gone.task.cancel()
        self._descriptions.remove(name)

    def wake(self, namespace: str, name: str = "") -> None:
        """Something about a Service, or about any in this namespace, is another by now."""
        for each in self._attendants.values():
            if each.service.namespace == namespace and name in ("", each.service.name):
                each.woken.set()

    # Attending

    async def _run(self, attendant: _Attendant) -> None:
        delay_s = SOON_S
        while True:
            attendant.woken.clear()
            condition = await self._attended(attendant.registration)
            has_changed = await self._rested(attendant, _pause_s(condition, delay_s))
            is_same = condition.status == "False" and not has_changed
            delay_s = min(delay_s * 2, AGAIN_S) if is_same else SOON_S

    async def _attended(self, known: Registration) -> Condition:
        try:
            condition = await self._lookout.look(known)
            is_there = condition.status == "True"
            self._registrations.judged(known, is_available=is_there)
            await self._write(known, condition)
            await self._describe(known, is_there=is_there)
        except Exception as error:  # noqa: BLE001  # one whom nobody can judge must not end the server
            log.warning("an APIService failed", api_service=known.name, error=error)
            return availability.unanswered(str(error))
        return condition

    async def _rested(self, attendant: _Attendant, limit_s: float | None) -> bool:
        """Whether an event was why it ended."""
        try:
            async with self._registry.clock.timeout(limit_s):
                await attendant.woken.wait()
        except TimeoutError:
            return False
        return True

    async def _write(self, judged: Registration, condition: Condition) -> None:
        """Until it is written, or said already. One that was changed meanwhile is not the one that was
        judged, and will be looked at anew.
        """
        while entry := await self._registry.store.get(self._kind.key("", judged.name)):
            if not registration.read(entry.value).is_same_but_for_availability(judged):
                return
            object_ = self._writes.read(entry)
            said = availability.changed(object_, condition, self._registry.now())
            if said is None or await self._writes.change(said, entry, "status"):
                return

    async def _describe(self, known: Registration, *, is_there: bool) -> None:
        found = Description()
        if is_there:
            before = self._descriptions.get(known.name)
            found = await self._questions.describe(known, before)
        self._descriptions.put(known.name, found)


def _pause_s(condition: Condition, delay_s: float) -> float | None:
    """What the objects themselves say is wrong, only an event can mend."""
    match condition.reason:
        case "Passed":
            return AGAIN_S
        case "FailedDiscoveryCheck":
            return delay_s
    return None
