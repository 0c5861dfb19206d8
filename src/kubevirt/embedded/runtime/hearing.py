"""Asking a container to end, so that it hears it.

The kernel drops what is sent to the first process of a container unless that has made provision for it, and
nobody is told. A program that has only begun would then never know, so it is asked at once, and again from when it
is seen to listen.
"""

import signal
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.embedded.runtime.attempt import Attempt

_FIRST_S: Final = 0.02
"""Between two looks at a sandbox that has just begun."""
_LAST_S: Final = 0.5
"""Between two looks, at most."""
_SURE: Final = 3
"""Looks in a row at a process that seems to hear, after which it has heard."""
_SLEEPS_FOR_SIGNALS: Final = "sigtimedwait"
"""In the name of the place in the kernel where whoever waits for signals without a handler sleeps."""


class Hearing(Enum):
    NO = auto()
    PERHAPS = auto()
    """It waits while it keeps the signal for later, or until some signal comes: the kernel does not tell which."""
    YES = auto()
    """It catches it, or does not want it."""


async def ask(attempt: Attempt, what: signal.Signals, clock: Clock) -> None:
    """Returns when it has heard it, or has ended. Who never listens is asked until somebody loses patience.

    Whoever waits for signals without a handler is asked once if it can be: it may take the second time for haste.
    """
    hearing = of(attempt, what)
    await send(attempt, what, clock)
    # What was sent to who was not yet seen to listen is lost, or was heard at the last moment.
    is_certain, is_asked, in_a_row = hearing is Hearing.YES, hearing is Hearing.PERHAPS, 0
    pause = _FIRST_S
    while not is_certain and attempt.is_running:
        await clock.sleep(pause)
        pause = min(2 * pause, _LAST_S)
        hearing = of(attempt, what)
        if hearing is Hearing.NO:
            is_asked, in_a_row = False, 0
            continue
        if hearing is Hearing.YES or not is_asked:
            await send(attempt, what, clock)
            is_asked = True
        in_a_row += 1
        is_certain = hearing is Hearing.YES or in_a_row >= _SURE


async def send(attempt: Attempt, what: signal.Signals, clock: Clock) -> None:
    """To the container's first process, which may be about to be there."""
    while attempt.is_running and not attempt.signal(what):
        await clock.sleep(_FIRST_S)


def of(attempt: Attempt, what: signal.Signals) -> Hearing:
    """Of its first process, at this moment."""
    first = attempt.first_process
    with attempt.pinned() as pidfd:
        if pidfd is not None and first is not None:
            with suppress(OSError):
                return _of_process(Path(f"/proc/{first}"), what)
    return Hearing.NO


def _of_process(folder: Path, what: signal.Signals) -> Hearing:
    lines = (folder / "status").read_text().splitlines()
    told = {name: words.split() for name, _, words in (each.partition(":") for each in lines)}

    def is_in(mask: str) -> bool:
        return bool(int(told[mask][0], 16) >> (what - 1) & 1)

    if is_in("SigCgt") or is_in("SigIgn"):
        return Hearing.YES
    if told["State"][0] != "S":  # a shell keeps everything for later while it starts a command
        return Hearing.NO
    # The kernel does not show as kept what somebody sleeps for, and keeps it all the same.
    if is_in("SigBlk") or _SLEEPS_FOR_SIGNALS in (folder / "wchan").read_text():
        return Hearing.PERHAPS
    return Hearing.NO
