"""Waiting: for a condition, with a limit, and for several things at once."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine

from clusterup import errors

_EVERY_S = 0.05


async def until(
    probe: Callable[[], Awaitable[bool]],
    *,
    limit_s: float,
    what: str,
    every_s: float = _EVERY_S,
) -> float:
    """Ask `probe` until it says yes and return the seconds it took. `probe` may raise `Broken` to
    give up early, when what is waited for can no longer happen.
    """
    began = time.monotonic()
    while not await probe():
        if time.monotonic() - began > limit_s:
            raise errors.Broken(f"{what}: not within {limit_s:g} s")
        await asyncio.sleep(every_s)
    return time.monotonic() - began


async def together(*work: Coroutine[object, object, None]) -> None:
    """Do several things at once. When one fails the others are cancelled, and what it raised is
    raised, as if it had been alone.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            for one in work:
                tasks.create_task(one)
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None
