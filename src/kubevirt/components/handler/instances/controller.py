"""The controller of a node's VMIs: reads what there is, decides purely, writes, acts.

From `Scheduled` on the status is ours. What is told follows from the guest (`virt.instance.guest`), what is
done for it too (`virt.instance.tending`). As long as a launcher has not said how its guest is, nothing is
told and nothing done: a virt-handler that has just come back knows nothing yet.
"""

from collections.abc import Callable

import msgspec

from kubevirt.api.configuration import KubeVirtConfiguration
from kubevirt.api.instance import VirtualMachineInstance
from kubevirt.api.instance_status import VirtualMachineInstanceStatus
from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.handler.instances import status
from kubevirt.components.handler.instances.events import Events
from kubevirt.components.handler.instances.options import options
from kubevirt.components.handler.launchers.attendant import LOST_S, Attendant
from kubevirt.components.handler.launchers.attendants import Attendants
from kubevirt.components.handler.launchers.identity import identity_of
from kubevirt.components.handler.launchers.sight import is_marked, sight
from kubevirt.kube.client import Client
from kubevirt.kube.controller import DONE, After, Result
from kubevirt.kube.informer import Informer
from kubevirt.kube.key import Key
from kubevirt.rpc.cmd import Launcher
from kubevirt.rpc.errors import NoAnswer
from kubevirt.virt.happening import Failure
from kubevirt.virt.instance import domain as domains
from kubevirt.virt.instance import guest, happenings, phases, tending
from kubevirt.virt.instance.domain import GuestSeen
from kubevirt.virt.instance.tending import Action, Step, Tended

log = get_logger(__name__)

KILL_AGAIN_S = 5.0
BREATH_S = 0.5
"""Between two writes that leave the phase as it is."""


class InstanceController:
    def __init__(
        self,
        node: str,
        client: Client,
        vmis: Informer[VirtualMachineInstance],
        attendants: Attendants,
        events: Events,
        configuration: Callable[[], KubeVirtConfiguration],
        clock: Clock,
    ) -> None:
        self._node = node
        self._client = client
        self._vmis = vmis
        self._attendants = attendants
        self._events = events
        self._configuration = configuration
        self._clock = clock
        self._overtaken: dict[Key, str] = {}
        """Versions that we have written something newer than, which the cache may not have yet."""
        self._written_at: dict[Key, float] = {}
        self._unhurried: dict[Key, float] = {}
        """Since when there is something to tell that can wait."""

    async def reconcile(self, key: Key) -> Result:
        vmi = self._vmis.get(key)
        for each in self._attendants.of(key):
            if vmi is None or each.whose.uid != vmi.metadata.uid:
                await self._bury(each)
        if vmi is None:
            self._forget(key)
            return DONE if not self._attendants.of(key) else After(KILL_AGAIN_S)
        if self._overtaken.get(key) == vmi.metadata.resource_version:
            return DONE  # the cache is about to hear of what we wrote
        whose = identity_of(vmi, self._node)
        if whose is None or vmi.status.phase in phases.UNSCHEDULED:
            return DONE
        if phases.is_final(vmi) and not self._attendants.of(key):
            return DONE
        attendant = self._attendants.attend(whose)
        return await self._look_after(key, vmi, attendant)

    def _forget(self, key: Key) -> None:
        self._overtaken.pop(key, None)
        self._unhurried.pop(key, None)
        self._written_at.pop(key, None)

    async def _look_after(
        self, key: Key, vmi: VirtualMachineInstance, attendant: Attendant
    ) -> Result:
        if phases.is_final(vmi) and attendant.is_gone:
            await self._attendants.release(attendant)
            return DONE
        if phases.has_run(vmi):
            attendant.was_running()
        if (patience_s := _patience_s(vmi, attendant, self._clock)) is not None:
            return After(patience_s)
        times_s = [await self._tell(key, vmi, attendant)]
        if attendant.door is not None:
            step = tending.decide(vmi, _tended(vmi, attendant, self._clock))
            await self._act(key, vmi, attendant, step)
            times_s.append(step.look_again_s)
        if phases.is_final(vmi):  # until its launcher is gone, too
            times_s.append(KILL_AGAIN_S)
        waits_s = [each for each in times_s if each is not None]
        return After(min(waits_s)) if waits_s else DONE

    # Telling.

    async def _tell(
        self, key: Key, vmi: VirtualMachineInstance, attendant: Attendant
    ) -> float | None:
        """Writes what there is to be told; how long to wait if it is better told together with more."""
        told = guest.told(vmi, _seen(vmi, attendant), self._clock.now())
        if told == vmi.status:
            self._unhurried.pop(key, None)
            return None
        settling_s = tending.settles_in_s(
            vmi.status, told, is_ending=attendant.ending_since is not None
        )
        now = self._clock.monotonic()
        if settling_s and (left_s := self._unhurried.setdefault(key, now) + settling_s - now) > 0:
            return left_s
        if told.phase == vmi.status.phase and (left_s := self._breath_s(key)) > 0:
            return left_s
        self._unhurried.pop(key, None)
        await self._write(key, vmi, told)
        return None

    def _breath_s(self, key: Key) -> float:
        """Until the next may be written: a launcher that never stops telling is not passed on as it likes."""
        last = self._written_at.get(key)
        return 0.0 if last is None else last + BREATH_S - self._clock.monotonic()

    async def _write(
        self, key: Key, vmi: VirtualMachineInstance, told: VirtualMachineInstanceStatus
    ) -> None:
        written = await status.write(self._client, vmi, told)
        if written is None:
            return
        self._written_at[key] = self._clock.monotonic()
        self._overtaken[key] = vmi.metadata.resource_version or ""
        if happening := guest.news(vmi.status.phase, told.phase, guest.cause(told)):
            self._events.tell(vmi, happening)

    # Acting.

    async def _act(
        self, key: Key, vmi: VirtualMachineInstance, attendant: Attendant, step: Step
    ) -> None:
        match step.action:
            case Action.START | Action.ADJUST:
                await self._bring_about(key, vmi, attendant)
            case Action.SHUT_DOWN:
                await self._ask_to_shut_down(vmi, attendant)
            case Action.KILL:
                await self._kill(vmi, attendant)
            case Action.NOTHING:
                await self._take_up(vmi, attendant)

    async def _bring_about(
        self, key: Key, vmi: VirtualMachineInstance, attendant: Attendant
    ) -> None:
        is_start = attendant.report is None
        try:
            await attendant.prepare(vmi)
            await _launcher(attendant).sync(_encoded(vmi), options(self._configuration()))
            await attendant.serves()
        except UserError as error:
            await self._fail(key, vmi, attendant, Failure("SyncFailed", str(error)))
            raise Retry(str(error), after_s=1.0) from None
        attendant.failure = None
        attendant.brought_about = vmi.spec
        if is_start:
            self._events.tell(vmi, happenings.DEFINED)

    async def _fail(
        self, key: Key, vmi: VirtualMachineInstance, attendant: Attendant, failure: Failure
    ) -> None:
        if failure.is_news(attendant.failure):
            self._events.failed(vmi, failure)
            attendant.failure = failure
        told = guest.told(vmi, _seen(vmi, attendant), self._clock.now())
        if told != vmi.status:
            await self._write(key, vmi, told)

    async def _take_up(self, vmi: VirtualMachineInstance, attendant: Attendant) -> None:
        """A guest that runs already, from before we came: what its network needs of us is started again,
        and nothing else is touched.
        """
        if attendant.brought_about is None and _is_alive(attendant):
            await attendant.connect(vmi)
            await attendant.serves()
            attendant.brought_about = vmi.spec

    async def _ask_to_shut_down(self, vmi: VirtualMachineInstance, attendant: Attendant) -> None:
        if attendant.asked_at is None:
            self._events.tell(vmi, happenings.ASKED_TO_SHUT_DOWN)
        attendant.asked_at = self._clock.monotonic()
        await _launcher(attendant).shut_down(_encoded(vmi))

    async def _kill(self, vmi: VirtualMachineInstance, attendant: Attendant) -> None:
        self._events.tell(vmi, happenings.DELETED)
        await _launcher(attendant).kill(_encoded(vmi))

    async def _bury(self, attendant: Attendant) -> None:
        """The launcher of an instance that is gone: nobody wants its guest any more."""
        if attendant.is_gone:
            await self._attendants.release(attendant)
        elif attendant.door is not None and _is_alive(attendant):
            log.warning("the guest of an instance that is gone is ended", vmi=attendant.whose.uid)
            try:
                await attendant.door.launcher.kill(b"{}")
            except (NoAnswer, UserError) as error:
                log.info("it could not be ended yet", error=error)


def _patience_s(vmi: VirtualMachineInstance, attendant: Attendant, clock: Clock) -> float | None:
    """How long to wait for the launcher to answer before anything is told; None if it need not be."""
    away_s = attendant.unanswered_s
    if away_s is not None:
        is_decided = attendant.is_over or attendant.is_lost
        return None if is_decided else max(attendant.patience_s - away_s, 0.1)
    if attendant.report is None and vmi.status.phase == phases.RUNNING:
        left_s = LOST_S - (clock.monotonic() - attendant.answered_at)
        return left_s if left_s > 0 else None
    return None


def _seen(vmi: VirtualMachineInstance, attendant: Attendant) -> GuestSeen:
    return GuestSeen(
        domain=sight(attendant.report) if attendant.report is not None else None,
        is_launcher_lost=attendant.is_lost,
        failure=attendant.failure,
        pod_addresses=attendant.addresses,
        shared_claims=_shared_claims(vmi),
    )


def _tended(vmi: VirtualMachineInstance, attendant: Attendant, clock: Clock) -> Tended:
    now, report = clock.monotonic(), attendant.report
    marked = report is not None and is_marked(report)
    brought_about = attendant.brought_about
    if (phases.is_ending(vmi) or marked) and attendant.ending_since is None:
        deleted = vmi.metadata.deletion_timestamp
        before_us_s = (clock.now() - deleted).total_seconds() if deleted else 0.0
        attendant.ending_since = now - max(before_us_s, 0.0)
    return Tended(
        domain=sight(report) if report is not None else None,
        is_launcher_ending=marked,
        is_changed=brought_about is not None and brought_about != vmi.spec,
        ending_s=now - attendant.ending_since if attendant.ending_since is not None else 0.0,
        asked_s=now - attendant.asked_at if attendant.asked_at is not None else None,
    )


def _shared_claims(vmi: VirtualMachineInstance) -> frozenset[str]:
    return frozenset(
        claim.claim_name
        for each in vmi.status.volume_status
        if (claim := each.persistent_volume_claim_info) is not None
        and claim.claim_name is not None
        and "ReadWriteMany" in claim.access_modes
    )


def _is_alive(attendant: Attendant) -> bool:
    report = attendant.report
    return not attendant.is_over and report is not None and report.status.status in domains.ALIVE


def _launcher(attendant: Attendant) -> Launcher:
    if attendant.door is None:
        raise NoAnswer("the launcher does not answer any more")
    return attendant.door.launcher


def _encoded(vmi: VirtualMachineInstance) -> bytes:
    return msgspec.json.encode(vmi)
