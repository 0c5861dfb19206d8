"""Waiting for a condition with a limit; the one place that sleeps."""

import asyncio
import time
from collections.abc import Awaitable, Callable

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
