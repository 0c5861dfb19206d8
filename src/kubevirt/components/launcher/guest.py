"""The guest: the one VM of a launcher, from its start to its end.

    sync          no domain: prepare and start one.  A domain: change what may be changed, else do nothing
    look          see how it is, after every event, every reconnection and every restart of the manager

Both are safe to repeat and hold one lock, so there is never a second start beside the first.

A domain is started in two steps. QEMU comes up with the guest's processors stopped; the manager writes down
which process it is, lets it run, and notes that it does. So a manager that was killed at any line knows the truth:
without the note `started` at most the first moments of the firmware have run, and what is left of the attempt can
be taken up or thrown away; with it, a guest that is not there has ended, and is never started a second time.
"""

import asyncio
import os
import signal
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, Unreachable, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher import changes
from kubevirt.components.launcher.ending import Ending, ending, last_words
from kubevirt.components.launcher.happenings import WARNING, Happenings
from kubevirt.components.launcher.notes import Notes, is_alive
from kubevirt.components.launcher.patience import PatientCaller
from kubevirt.components.launcher.picture import Picture
from kubevirt.components.launcher.preparer import Order, Prepared, Preparer
from kubevirt.components.launcher.qemu import Qemu
from kubevirt.components.launcher.reporting import metadata_of, spec_of
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.strays import end_all_strays
from kubevirt.components.launcher.wish import Wish, wish_in
from kubevirt.host.libvirt.connection import Caller
from kubevirt.host.libvirt.daemon import Daemon
from kubevirt.host.libvirt.domain import LiveDomain, create
from kubevirt.host.libvirt.errors import (
    DomainExistsError,
    DomainRefusedError,
    NoSuchDomainError,
    WrongStateError,
)
from kubevirt.host.libvirt.states import DomainState, State
from kubevirt.rpc import reports
from kubevirt.virt.domain import domain as xml

log = get_logger(__name__)

EXIT_CODE_S: Final = 2.0
"""For the monitor to write down how QEMU ended; it is woken by the kernel, so this is plenty."""
LOOK_S: Final = 0.01
TRIES: Final = 3
"""Starts of one sync, if libvirt dies during each."""
KILL_S: Final = 10.0
"""For the kernel to end a process; it takes milliseconds, unless the machine does other things."""
NOTICE_S: Final = 3.0
"""For libvirt to find out that a QEMU is gone."""
QEMU: Final = "qemu-system"
YOUNG_QEMU: Final = (QEMU, "rpc-")
"""A process that is to become QEMU has the name of the daemon's thread that has forked it."""
LOG_TAIL: Final = 8 << 10


class Guest:
    def __init__(
        self,
        *,
        settings: Settings,
        hypervisor: Caller,
        preparer: Preparer | None,
        qemu: Qemu,
        notes: Notes,
        picture: Picture,
        happenings: Happenings,
        clock: Clock,
    ) -> None:
        self.domain = LiveDomain(PatientCaller(hypervisor), f"{settings.namespace}_{settings.name}")
        self.over: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        """How it ended. Nothing starts after that."""
        self.has_started = asyncio.Event()
        self.last_refusal = ""
        """Why there is no guest yet, in the words that the handler was told."""
        self._settings = settings
        self._hypervisor = hypervisor
        self._daemon = Daemon(settings.libvirt)
        self._preparer = preparer
        self._qemu = qemu
        self._notes = notes
        self._picture = picture
        self._happenings = happenings
        self._clock = clock
        self._lock = asyncio.Lock()
        self._is_closing = False
        self._stop_reason: str | None = None
        self._why_ended = ""
        self._is_agent_lost = False
        """After a reset libvirt shows the agent of the system before for a while, up to a second."""
        self._known = (notes.resets, False)
        """Resets, and whether the agent is lost, before the last look: what it saw may be newer, but not older."""

    # What a handler wants.

    async def sync(self, instance: bytes, options: bytes | None) -> str:
        """`options` are those of the call, as they came over the wire. Returns what the guest's owner
        should know about a start that went well, a line for each.
        """
        wish = self._understood(instance)
        async with self._lock:
            found = await self._found()
            if found is not None and not self._notes.has_started:
                # Of a start during which somebody died: nobody else would finish it.
                await self._throw_away()
                await self._forgotten()
                found = None
            if found is not None:
                if await changes.apply(self.domain, found, wish):
                    await self._take_up(await self.domain.read())
                return ""
            self._check_may_start()
            try:
                return await self._start(instance, options)
            except UserError as error:
                self.last_refusal = str(error)
                raise

    async def close(self) -> bool:
        """The launcher is to end: nothing starts any more. Whether there is a guest to wait for."""
        self._is_closing = True
        async with self._lock:
            return self._notes.has_started or self._lost_qemu() is not None

    async def kill(self, why: str) -> None:
        """Ends it now; `why` completes "the guest was ended: …"."""
        if self._notes.has_started:
            self._why_ended = self._why_ended or why
        await self.domain.destroy()

    @property
    def has_agent(self) -> bool:
        """Whether something in the guest has opened the agent's channel, when we last looked."""
        return self._picture.report.spec.has_agent

    # What happens to it.

    def stopped(self, reason: str) -> None:
        """Why it is gone, says libvirt. A panic is the cause of the stop that follows it."""
        if self._stop_reason != reports.BY_PANIC:
            self._stop_reason = reason

    def switched_off(self) -> None:
        """By its watchdog. QEMU then exits at once, which libvirt takes for a crash."""
        self._why_ended = self._why_ended or "its watchdog has switched it off"

    def was_reset(self) -> None:
        """By its owner, its watchdog or itself: it boots anew. Firmware may reset it once more on the way."""
        self._notes.was_reset()
        self._is_agent_lost = True

    def agent_changed(self) -> None:
        """From now on its channel is again as libvirt shows it."""
        self._is_agent_lost = False

    async def look(self) -> None:
        """Finds the guest, or that it is over."""
        async with self._lock:
            found = await self._found()
            if found is not None:
                await self._take_up(found)
            elif self._notes.has_started:
                await self._end()

    async def _found(self) -> xml.Domain | None:
        self._known = (self._notes.resets, self._is_agent_lost)
        try:
            return await self.domain.read()
        except NoSuchDomainError:
            return None

    def _qemu_pid(self) -> int | None:
        """As libvirt wrote it down when it started the process."""
        try:
            return int(self._daemon.qemu_pid_file(self.domain.name).read_text())
        except (FileNotFoundError, ValueError):
            return None

    # Starting.

    def _understood(self, instance: bytes) -> Wish:
        wish = wish_in(instance)
        meta, own = wish.metadata, self._settings
        if (meta.uid, meta.name, meta.namespace or "default") != (own.uid, own.name, own.namespace):
            raise UserError(
                f"this launcher serves {own.namespace}/{own.name} with UID {own.uid}, not "
                f"{meta.namespace}/{meta.name} with UID {meta.uid}",
                reason="WrongInstance",
            )
        return wish

    def _check_may_start(self) -> None:
        if self.over.done() or self._notes.has_started:
            raise UserError(
                "the guest of this launcher has ended, and an instance is never started twice",
                reason="Ended",
            )
        if self._is_closing:
            raise UserError("the launcher is ending and starts no guest any more", reason="Ending")

    async def _start(self, instance: bytes, options: bytes | None) -> str:
        began = self._clock.monotonic()
        await self._end_lost_qemu()
        order = Order(instance=instance, options=options)
        prepared = await self._prepared(order)
        prepared_at = self._clock.monotonic()
        self._notes.remember_instance(instance)
        try:
            await self._bring_up(prepared.xml)
        except BaseException as error:
            if not self._notes.has_started:
                await self._throw_away()
                prepared.undo()
            if isinstance(error, DomainRefusedError):
                await self._explain(order)
            raise
        end_all_strays()
        log.info(
            "the guest was started",
            preparing_s=round(prepared_at - began, 3),
            starting_s=round(self._clock.monotonic() - prepared_at, 3),
        )
        for note in prepared.notes:
            self._happenings.tell(note.reason, note.message, WARNING)
        return "\n".join(note.message for note in prepared.notes)

    async def _prepared(self, order: Order) -> Prepared:
        if self._preparer is None:
            raise AssertionError("a manager that found a guest does not start one")
        return await self._preparer.prepare(order)

    async def _explain(self, order: Order) -> None:
        """Raises a better sentence than libvirt's, if what it refused is something that QEMU lacks.

        What QEMU offers is asked for only now: most guests want nothing unusual, and asking takes time.
        """
        try:
            offers = await self._qemu.offers()
        except Retry:  # then libvirt's own words must do
            return
        prepared = await self._prepared(replace(order, offers=offers))
        prepared.undo()

    async def _bring_up(self, wanted: str) -> None:
        """A daemon that dies on the way may have started QEMU. Its successor would end that again, unless it waits for
        a QEMU that never speaks to it; so what is left is ended here, and in the end the guest runs.
        """
        for _ in range(TRIES - 1):
            try:
                return await self._created(wanted)
            except (Unreachable, NoSuchDomainError, WrongStateError) as error:
                log.warning("libvirt died during a start; once more", error=error)
                await self._throw_away()
                await self._forgotten()
        return await self._created(wanted)

    async def _created(self, wanted: str) -> None:
        with suppress(DomainExistsError):  # of an earlier try
            await create(self._hypervisor, wanted, paused=True)
        await self._take_up(await self.domain.read())

    async def _throw_away(self) -> None:
        """What there is of a guest that never ran."""
        await self._end_lost_qemu()
        self._notes.forget_qemu()

    async def _forgotten(self) -> None:
        """Returns when libvirt, too, has noticed that it is gone.

        A daemon takes up the start that its predecessor had begun as the work of nobody: not even an order to destroy
        the guest gets past it then. Such a daemon is replaced by one that knows nothing of the guest.
        """
        try:
            async with self._clock.timeout(NOTICE_S):
                await self._vanished()
        except TimeoutError:
            log.warning("libvirt does not let go of a guest that never ran; it is started anew")
            self._daemon.qemu_pid_file(self.domain.name).with_suffix(".xml").unlink(missing_ok=True)
            with suppress(OSError, ValueError):  # it is gone already
                _kill(int(self._daemon.pid_file.read_text()))
            async with self._clock.timeout(KILL_S):
                await self._vanished()

    async def _vanished(self) -> None:
        while await self._found() is not None:  # it has no event for that
            await self._clock.sleep(LOOK_S)

    def _lost_qemu(self) -> int | None:
        """The process that libvirt started last, if it is alive."""
        pid = self._qemu_pid()
        return pid if pid is not None and is_alive(pid, YOUNG_QEMU) else None

    async def _end_lost_qemu(self) -> None:
        """A QEMU that never ran, of which libvirt may know nothing because it was killed in between."""
        pid = self._lost_qemu()
        if pid is None:
            return
        log.warning("a QEMU of a start that failed is ended", pid=pid)
        _kill(pid)
        async with self._clock.timeout(KILL_S):
            while is_alive(pid, YOUNG_QEMU):
                await self._clock.sleep(LOOK_S)

    async def _take_up(self, found: xml.Domain) -> None:
        """Takes a domain that is there for ours, from wherever it stands."""
        self._check_identity(found)
        if self._is_closing and not self._notes.has_started:
            await self.domain.destroy()  # nobody wants it any more, and it never ran
            return
        state = await self.domain.state()
        if not self._notes.has_started:
            state = await self._let_run(state)
        if not self.has_started.is_set():
            self._remember_process()
            self.has_started.set()
            if self._preparer is not None:
                self._preparer.dismiss()
        if state.is_alive:  # else it is on its way out, and its end will tell why
            resets, is_agent_lost = self._known
            spec = spec_of(found)
            spec = spec.without_agent if is_agent_lost else spec
            self._picture.saw(spec, state.state, state.reason, resets)

    def _check_identity(self, found: xml.Domain) -> None:
        uid = metadata_of(found).uid
        if uid != self._settings.uid:
            raise UserError(f"the domain {found.name} belongs to another instance, {uid}")

    async def _let_run(self, state: DomainState) -> DomainState:
        """The second step of a start. A daemon that comes back ends what its predecessor had not finished, and
        shows it for a moment longer: that one has not run, and must not count as if it had.
        """
        if not state.is_alive:
            raise NoSuchDomainError("the guest was gone before it ran")
        self._remember_process()
        if state.state == State.PAUSED and not self._starts_paused():
            await self._resumed()
            state = await self.domain.state()
        self._notes.guest_runs()
        return state

    async def _resumed(self) -> None:
        """A daemon that waits for what its predecessor started may wait forever."""
        try:
            await self.domain.resume()
        except Unreachable:
            await self._throw_away()
            raise

    def _starts_paused(self) -> bool:
        instance = self._notes.instance
        return instance is not None and wish_in(instance).starts_paused

    def _remember_process(self) -> None:
        pid = self._qemu_pid()
        if pid is not None and pid != self._notes.qemu_pid:
            self._notes.qemu_runs_as(pid)

    # Ending.

    async def _end(self) -> None:
        if self.over.done():
            return
        exit_code = await self._exit_code()
        words = "" if exit_code == 0 else self._last_words()
        found = ending(self._stop_reason, exit_code, self._why_ended, words)
        self._notes.tell_ending(found.sentence, in_peace=found.is_peaceful)
        self._picture.ended(found)
        self.over.set_result(found)

    def _last_words(self) -> str:
        try:
            with self._daemon.qemu_log(self.domain.name).open("rb") as log_file:
                size = log_file.seek(0, os.SEEK_END)
                log_file.seek(max(0, size - LOG_TAIL))
                return last_words(log_file.read(LOG_TAIL))
        except OSError:
            return ""

    async def _exit_code(self) -> int | None:
        """How QEMU ended, which the monitor learns at the same moment as libvirt."""
        pid = self._notes.qemu_pid
        if pid is None:
            return None
        exit_code = await self._noted_exit_code()
        if exit_code is None and is_alive(pid, QEMU):
            log.warning("a QEMU that libvirt has lost is ended", pid=pid)
            self._why_ended = self._why_ended or "libvirt no longer knew it"
            _kill(pid)
            exit_code = await self._noted_exit_code()
        return exit_code

    async def _noted_exit_code(self) -> int | None:
        deadline = self._clock.monotonic() + EXIT_CODE_S
        while self._notes.qemu_exit is None and self._clock.monotonic() < deadline:
            await self._clock.sleep(LOOK_S)
        return self._notes.qemu_exit


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
