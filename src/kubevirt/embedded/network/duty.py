"""Something that is kept up: tried again until it is done, and what stands in its way is known to whoever asks."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.base.log import get_logger
from kubevirt.host.net.errors import NetworkFailed

FIRST_PAUSE_S: Final = 0.5
LONGEST_PAUSE_S: Final = 15.0
TRIES: Final = 3
"""That fail one after the other, before it is told: others change the same things, and that passes."""

log = get_logger(__name__)


class Duty:
    def __init__(self, what: str) -> None:
        """`what` in words, for messages."""
        self.what = what
        self.trouble = ""
        """Why it cannot be done; empty if it is done, or nobody knows yet."""
        self._is_known = asyncio.Event()

    async def do(self, work: Callable[[], Awaitable[None]], clock: Clock) -> None:
        """Returns when it is done."""
        pause, tries = FIRST_PAUSE_S, 0
        while True:
            try:
                await work()
            except (KubevirtError, OSError) as error:
                log.warning("cannot be had", what=self.what, reason=str(error), again_in_s=pause)
                tries += 1
                if tries >= TRIES:
                    self._find(f"{self.what} cannot be had: {error}")
                await clock.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)
            else:
                return self._find("")

    def _find(self, trouble: str) -> None:
        self.trouble = trouble
        self._is_known.set()

    async def done(self) -> None:
        """Returns when it was done once. NetworkFailed if that came to nothing."""
        await self._is_known.wait()
        if self.trouble:
            raise NetworkFailed(self.trouble)
