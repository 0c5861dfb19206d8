"""Power: the buttons of the guest. Pressing one twice is harmless."""

from kubevirt.base.clock import Clock
from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.guest_agent import GuestAgent
from kubevirt.components.launcher.reporting import spec_of
from kubevirt.host.libvirt.domain import Button, LiveDomain
from kubevirt.host.libvirt.states import State

log = get_logger(__name__)


class Power:
    def __init__(self, domain: LiveDomain, agent: GuestAgent, clock: Clock) -> None:
        self._domain = domain
        self._agent = agent
        self._clock = clock
        self._pressed_at: float | None = None

    @property
    def was_pressed(self) -> bool:
        """Whether the guest was asked to shut down, by anybody, in this life of the manager."""
        return self._pressed_at is not None

    def was_pressed_within(self, seconds: float) -> bool:
        return self._pressed_at is not None and (
            self._clock.monotonic() - self._pressed_at < seconds
        )

    async def pause(self) -> None:
        state = await self._domain.state()
        if state.state != State.PAUSED:
            await self._domain.suspend()

    async def unpause(self) -> None:
        state = await self._domain.state()
        if state.state == State.PAUSED:
            await self._domain.resume()

    async def reset(self) -> None:
        await self._domain.reset()

    async def soft_reboot(self) -> None:
        """By the agent if there is one, else by ACPI, which a guest may take for power-off."""
        if not self._agent.is_connected or not await self._agent_reboots():
            await self._domain.reboot(Button.ACPI)

    async def _agent_reboots(self) -> bool:
        try:
            await self._domain.reboot(Button.AGENT)
        except (Retry, UserError) as error:
            # One that is gone in the middle of the order is carrying it out.
            if not spec_of(await self._domain.read()).has_agent:
                return True
            log.warning("the agent did not reboot the guest; ACPI is next", error=error)
            return False
        return True

    async def shut_down(self) -> None:
        """ACPI, or the agent in a guest that has no ACPI. A paused guest cannot hear, so it is woken."""
        self._pressed_at = self._clock.monotonic()
        await self.unpause()
        domain = await self._domain.read()
        has_acpi = domain.features is not None and domain.features.acpi
        if not has_acpi and self._agent.is_connected:
            await self._domain.shutdown(Button.AGENT)
        else:
            await self._domain.shutdown(Button.ACPI)
