"""Tasks with an owner.

`create_task` outside a TaskGroup is how background work gets lost; here are the three shapes that
the house needs instead: work that runs beside a body (`background`), work that ends with the first
that finishes (`first_of`), and a value that others wait for (`Latch`).
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def background(*work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Runs `work` beside the body and cancels it when the body ends.

    If any of the work raises, the body is cancelled and the error comes out here, unwrapped when it
    is the only one: callers catch the error they know, not a group of one.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
            yield
            for task in tasks:
                task.cancel()
    except* GeneratorExit as closing:
        raise closing.exceptions[0] from None
    except* Exception as errors:
        raise _only(errors) from None


async def first_of(*work: Coroutine[Any, Any, T]) -> T:
    """The result of whichever finishes first; the others are cancelled and awaited."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
    except* Exception as errors:
        raise _only(errors) from None
    return next(task for task in tasks if task in done).result()


def _only(errors: ExceptionGroup[Exception]) -> Exception:
    return errors.exceptions[0] if len(errors.exceptions) == 1 else errors


class Latch:
    """A door that opens once and stays open."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return self._event.is_set()

    def open(self) -> None:
        self._event.set()

    async def wait(self) -> None:
        await self._event.wait()
