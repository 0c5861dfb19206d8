"""Ctrl+C, SIGTERM, a closed window: what they mean depends on how far a run has come."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

_ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Endable(Protocol):
    def end(self) -> None: ...

    def kill(self) -> None: ...


class Interruptions:
    """Before a guest runs, the whole run is given up. Then the first one asks the guest to end, and the
    second one ends it.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._guest: Endable | None = None
        self._run: asyncio.Task[object] | None = None
        self._has_asked = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """While the body, which is the whole run, lasts."""
        loop = asyncio.get_running_loop()
        self._run = asyncio.current_task()
        for each in _ENDS:
            loop.add_signal_handler(each, self._interrupted)
        try:
            yield
        finally:
            for each in _ENDS:
                loop.remove_signal_handler(each)

    def concern(self, guest: Endable) -> None:
        """From now on they are the guest's affair."""
        self._guest = guest

    def _interrupted(self) -> None:
        if self._guest is None:
            if self._run is not None and not self._has_asked:
                self._has_asked = True
                self._say("given up before the guest ran")
                self._run.cancel()
        elif self._has_asked:
            self._guest.kill()
        else:
            self._has_asked = True
            self._say("asking the guest to end; Ctrl+C again ends it at once")
            self._guest.end()
