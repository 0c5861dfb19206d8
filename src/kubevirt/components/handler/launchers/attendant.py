"""An attendant: all that is kept open for one launcher, from its pod's arrival to its going.

It listens, keeps a door to the launcher open, and finds the door again when the launcher's manager was
restarted. What it learns it holds as it is now; whoever decides is told to look, and reads it here.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from kubevirt.api.core.event import Event
from kubevirt.api.instance import VirtualMachineInstance, VirtualMachineInstanceSpec
from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.handler.arrivals import Arrivals
from kubevirt.components.handler.launchers import container_disks, ear, folders, own_devices
from kubevirt.components.handler.launchers import door as doors
from kubevirt.components.handler.launchers.door import Door
from kubevirt.components.handler.launchers.folders import PodFolders
from kubevirt.components.handler.launchers.identity import Identity
from kubevirt.components.handler.launchers.network import PodNetwork
from kubevirt.components.handler.launchers.records import Record, Records
from kubevirt.components.handler.settings import HandlerSettings
from kubevirt.rpc import reports
from kubevirt.rpc.errors import NoAnswer
from kubevirt.virt.happening import Failure

log = get_logger(__name__)

PING_S: Final = 11.0
"""Between two questions whether the launcher is well; KubeVirt's."""
LOOK_S: Final = 0.5
"""Between two looks for a door that nobody announces: one that does not open any more, a folder that is
not there yet."""
LOST_S: Final = 30.0
"""After which a launcher that does not answer counts as gone; KubeVirt's."""
FIRST_S: Final = 300.0
"""The same for one that has never answered yet: as long as a launcher waits for us."""
GONE_S: Final = 5.0
"""The same for one whose pod the kubelet has no more."""

Told = Callable[[Identity, Event], None]


class Attendant:
    def __init__(
        self,
        whose: Identity,
        settings: HandlerSettings,
        records: Records,
        arrivals: Arrivals,
        clock: Clock,
        changed: Callable[[Identity], None],
        told: Told,
    ) -> None:
        self.whose = whose
        self.door: Door | None = None
        """None while the launcher does not answer."""
        self.answered_at = clock.monotonic()
        """When it began to. One whose manager was just restarted may have to look for its guest first."""
        self.report: reports.Domain | None = None
        """The guest as last heard of."""
        self.is_over = False
        """The guest has been and is no more."""
        self.failure: Failure | None = None
        """What came of the last try to bring the guest about."""
        self.brought_about: VirtualMachineInstanceSpec | None = None
        """What the guest was last made to be like."""
        self.ending_since: float | None = None
        self.asked_at: float | None = None
        """When it was last asked to shut down."""
        self.folders: PodFolders | None = None
        self.network: PodNetwork | None = None
        self._settings = settings
        self._records = records
        self._arrivals = arrivals
        self._clock = clock
        self._changed = changed
        self._told = told
        self._away_since = clock.monotonic()
        self._was_there = False
        self._addresses: tuple[str, ...] = ()
        self._task: asyncio.Task[None] | None = None
        self._take_up_record()

    def _take_up_record(self) -> None:
        record = self._records.get(self.whose.pod)
        if record is None or record.whose != self.whose:
            record = Record(whose=self.whose)
            self._records.put(record)
        self._record = record
        if record.ending is not None:
            self.report, self.is_over = record.ending, True

    # What there is to see.

    @property
    def unanswered_s(self) -> float | None:
        """How long the launcher has not answered; None if it does."""
        return None if self.door else self._clock.monotonic() - self._away_since

    @property
    def patience_s(self) -> float:
        """How long it may take to answer."""
        if not self.has_folder:
            return GONE_S
        return LOST_S if self._was_there else FIRST_S

    @property
    def has_folder(self) -> bool:
        """Whether the kubelet still has the pod."""
        return (self._settings.kubelet / "pods" / self.whose.pod).exists()

    @property
    def is_lost(self) -> bool:
        away_s = self.unanswered_s
        return not self.is_over and away_s is not None and away_s >= self.patience_s

    @property
    def is_gone(self) -> bool:
        """Nobody is there any more, and nobody will come. One that is merely lost may still have a guest."""
        return self.door is None and (self.is_over or (self.is_lost and not self.has_folder))

    def was_running(self) -> None:
        """The instance has run here before: its launcher should answer soon."""
        self._was_there = True

    @property
    def addresses(self) -> tuple[str, ...]:
        """Of the pod, as last known."""
        if self.network is not None and self.network.addresses:
            self._addresses = self.network.addresses
        return self._addresses

    # What it hears.

    def heard(self, report: reports.Domain, *, is_last: bool) -> None:
        if self.is_over:
            return
        self.report = report
        if is_last:
            # Before it hears that we know: then it goes, and nobody else could tell.
            self._record = replace(self._current_record(), ending=report)
            self._records.put(self._record)
            self.is_over = True
        self._changed(self.whose)

    def happened(self, event: Event) -> None:
        self._told(self.whose, event)

    def _current_record(self) -> Record:
        return self._records.get(self.whose.pod) or self._record

    # Its life.

    def start(self, tasks: asyncio.TaskGroup) -> None:
        self._task = tasks.create_task(self._run(), name=f"attendant of {self.whose.pod}")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def release(self) -> None:
        """The guest is over for good: nothing of what was made for it stays."""
        try:
            if self.folders is not None:
                container_disks.hide(self.folders.container_disks)
            if self.network is not None:
                await self.network.disconnect()
        except (KubevirtError, OSError) as error:
            log.info("the pod went before it was put back", error=error)
        await self.stop()
        self._records.forget(self.whose.pod)

    async def connect(self, vmi: VirtualMachineInstance) -> None:
        """The guest's network, as it should be."""
        if self.network is None or self.folders is None or self.door is None:
            raise NoAnswer("the launcher does not answer yet")
        await self.network.connect(vmi, self.door, self.folders.public)

    async def serves(self) -> None:
        """Returns when the guest's DHCP server answers."""
        if self.network is not None:
            await self.network.answers()

    async def prepare(self, vmi: VirtualMachineInstance) -> None:
        """All that a guest needs before it can start."""
        await self.connect(vmi)
        if self.folders is not None and self.door is not None:
            user, waited_s = (
                self._settings.launcher_user,
                self._clock.monotonic() - self.answered_at,
            )
            own_devices.give(self.door, user, vmi)
            disks = self.folders.container_disks
            await container_disks.show(vmi, self.door, disks, user, self._clock, waited_s)

    async def _run(self) -> None:
        while True:
            try:
                await self._attend()
            except (FileNotFoundError, NotADirectoryError):
                pass  # the pod's folders are not there yet, or not any more
            except (KubevirtError, OSError) as error:
                log.warning("a launcher cannot be attended", pod=self.whose.pod, error=error)
            except Exception:
                log.exception("attending a launcher failed", pod=self.whose.pod)
            await self._clock.sleep(LOOK_S)

    async def _attend(self) -> None:
        user = self._settings.launcher_user
        with folders.opened(self._settings.kubelet, self.whose.pod) as found:
            async with (
                ear.listening(found.public, self.whose, self, user),
                asyncio.TaskGroup() as tasks,
            ):
                record = self._current_record()
                network = PodNetwork(self._records, record, tasks, user, self._clock)
                self.folders, self.network = found, network
                try:
                    await self._keep_door_open(found)
                finally:
                    self.folders = self.network = self.brought_about = None
                    await network.stop_serving()
                    network.close()

    async def _keep_door_open(self, found: PodFolders) -> None:
        with self._arrivals.at(found.sockets) as arrived:
            while self.has_folder:
                arrived.clear()  # before the look: what appears while we look is not waited for
                with suppress(NoAnswer, FileNotFoundError):
                    await self._stand_at_door(found)
                with suppress(TimeoutError):
                    async with self._clock.timeout(LOOK_S):
                        await arrived.wait()

    async def _stand_at_door(self, found: PodFolders) -> None:
        """Until the launcher's manager ends, or does not answer any more."""
        user = self._settings.launcher_user
        async with doors.opened(found, user, self._clock) as door:
            await self._ask_how_it_is(door)
            try:
                await self._stay(door)
            finally:
                self.door = None
                self._away_since = self._clock.monotonic()
                self._changed(self.whose)

    async def _ask_how_it_is(self, door: Door) -> None:
        text = await door.launcher.domain()
        if text and not self.is_over:
            with suppress(UserError):
                self.report = ear.understood(text, self.whose)
        self.door, self.answered_at = door, self._clock.monotonic()
        self._was_there = True
        self._changed(self.whose)

    async def _stay(self, door: Door) -> None:
        while door.peer.is_alive:
            with suppress(TimeoutError):
                async with self._clock.timeout(PING_S):
                    await door.peer.ended()
                return
            await door.launcher.ping()
