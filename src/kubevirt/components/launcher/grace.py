"""Grace: the end of a guest that is asked for, in peace if it can be had.

A pod that is deleted sends SIGTERM. The launcher marks the domain, so that the handler, which knows about
everything else that may be going on, shuts the guest down; where there is no handler, or it does not react, the
launcher presses the power button itself. When the grace period is over the guest is killed.

The mark is in the domain and the time is in the notes, so a manager that is killed meanwhile goes on where its
predecessor was.
"""

from datetime import datetime
from typing import Final

from msgspec.structs import replace

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.guest import Guest
from kubevirt.components.launcher.notes import Notes
from kubevirt.components.launcher.power import Power
from kubevirt.components.launcher.settings import Settings
from kubevirt.host.libvirt.errors import NoSuchDomainError
from kubevirt.virt.domain.metadata import GracePeriod, Kubevirt

log = get_logger(__name__)

HANDLER_S: Final = 5.0
"""For a handler to take over, before the launcher acts itself."""
REPEAT_S: Final = 5.0
"""Between two presses of the power button: a guest that boots misses the first. KubeVirt's interval."""


class Grace:
    def __init__(
        self, settings: Settings, guest: Guest, power: Power, notes: Notes, clock: Clock
    ) -> None:
        self._settings = settings
        self._guest = guest
        self._power = power
        self._notes = notes
        self._clock = clock

    async def end(self) -> None:
        """Sees to it that the guest ends; who waits for the end waits for `guest.over`."""
        began = self._notes.asked_to_end_at
        if began is None:
            began = self._clock.monotonic()
            self._notes.asked_to_end(began)
        while not self._guest.over.done():
            try:
                await self._end(began)
            except NoSuchDomainError:
                return  # that is what was wanted
            except (Retry, UserError) as error:
                log.warning("the guest could not be asked to end", error=error)
                await self._clock.sleep(REPEAT_S / 10)

    async def _end(self, began: float) -> None:
        metadata = await self._guest.domain.metadata() or Kubevirt()
        grace_s = self._grace_s(metadata)
        await self._mark(metadata)
        deadline = began + grace_s
        if not self._settings.standalone:
            await self._wait(min(self._clock.monotonic() + HANDLER_S, deadline))
        while (left_s := deadline - self._clock.monotonic()) > 0:
            if not self._power.was_pressed_within(REPEAT_S):
                await self._power.shut_down()
            await self._clock.sleep(min(left_s, REPEAT_S))
        await self._guest.kill(f"it did not shut down within {grace_s:g} s")

    def _grace_s(self, metadata: Kubevirt) -> float:
        grace = metadata.graceperiod
        wanted = grace.deletion_grace_period_seconds if grace else None
        return self._settings.grace_s if wanted is None else wanted

    async def _mark(self, metadata: Kubevirt) -> None:
        grace = metadata.graceperiod or GracePeriod()
        if grace.marked_for_graceful_shutdown is not None:
            return
        marked = replace(
            grace,
            deletion_timestamp=timestamp(self._clock.now()),
            marked_for_graceful_shutdown="true",
        )
        await self._guest.domain.set_metadata(replace(metadata, graceperiod=marked))
        await self._guest.look()

    async def _wait(self, deadline: float) -> None:
        """For the handler, until then at most."""
        while (left_s := deadline - self._clock.monotonic()) > 0 and not self._power.was_pressed:
            await self._clock.sleep(min(left_s, 0.1))


def timestamp(moment: datetime) -> str:
    """As Kubernetes writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
