"""Ctrl+C, SIGTERM, a closed window, while a run gets ready: it is given up, and leaves nothing."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from kubevirt.components.launcher.standalone.keeper import INTERRUPTIONS


@contextmanager
def giving_up(say: Callable[[str], None]) -> Iterator[None]:
    """Cancels the task that the body is in, once."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    has_given_up = False

    def give_up() -> None:
        nonlocal has_given_up
        if task is not None and not has_given_up:
            has_given_up = True
            say("given up before the guest ran")
            task.cancel()

    for each in INTERRUPTIONS:
        loop.add_signal_handler(each, give_up)
    try:
        yield
    finally:
        for each in INTERRUPTIONS:
            loop.remove_signal_handler(each)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTIONS)


async def held_back() -> int:
    """From now on they wait for the program that we become. Those that came before are heard here.

    The mask that keeps them back is our own thread's, and is inherited. Libraries have threads without it: what
    reaches one of those is written into a pipe, whose end is returned.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTIONS)
    reading, writing = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(writing)
    for _ in range(_TURNS):
        await asyncio.sleep(0)
    return reading


_TURNS: Final = 3
"""From the byte that a signal leaves to the callback that it means, the loop takes as many turns."""
