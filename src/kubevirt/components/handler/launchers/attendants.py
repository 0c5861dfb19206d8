"""All attendants of a node, by the pod that each looks after."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager

from kubevirt.base.clock import Clock
from kubevirt.components.handler.arrivals import Arrivals
from kubevirt.components.handler.launchers.attendant import Attendant, Told
from kubevirt.components.handler.launchers.identity import Identity
from kubevirt.components.handler.launchers.records import Records
from kubevirt.components.handler.settings import HandlerSettings
from kubevirt.kube.key import Key


class Attendants:
    def __init__(
        self, settings: HandlerSettings, records: Records, arrivals: Arrivals, clock: Clock
    ) -> None:
        self._settings = settings
        self._records = records
        self._arrivals = arrivals
        self._clock = clock
        self._all: dict[str, Attendant] = {}
        self._tasks: asyncio.TaskGroup | None = None
        self._changed: Callable[[Identity], None] = lambda _: None
        self._told: Told = lambda *_: None

    def notify(self, changed: Callable[[Identity], None], told: Told) -> None:
        """Who is to look when something changed, and who hears what launchers want people to read."""
        self._changed, self._told = changed, told

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Attends while the body runs, beginning with those that are known from before. Guests and their
        networks stay as they are when it ends.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                for record in self._records.all():
                    self.attend(record.whose)
                try:
                    yield
                finally:
                    for each in self:
                        await each.stop()
        except BaseExceptionGroup as group:
            if len(group.exceptions) > 1:
                raise
            raise group.exceptions[0] from None

    def attend(self, whose: Identity) -> Attendant:
        """The one who looks after this pod, from now on if not before."""
        found = self._all.get(whose.pod)
        if found is None:
            if self._tasks is None:
                raise AssertionError("nobody attends before `running`")
            found = Attendant(
                whose,
                self._settings,
                self._records,
                self._arrivals,
                self._clock,
                self._changed,
                self._told,
            )
            self._all[whose.pod] = found
            found.start(self._tasks)
        return found

    def of(self, key: Key) -> list[Attendant]:
        return [each for each in self._all.values() if each.whose.key == key]

    def find(self, uid: str) -> Attendant | None:
        """By the UID of the instance."""
        return next((each for each in self._all.values() if each.whose.uid == uid), None)

    def __iter__(self) -> Iterator[Attendant]:
        return iter(list(self._all.values()))

    async def release(self, attendant: Attendant) -> None:
        await attendant.release()
        self._all.pop(attendant.whose.pod, None)
