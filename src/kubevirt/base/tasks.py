"""Tasks with an owner.

`create_task` outside a TaskGroup is how background work gets lost; here are the three shapes that
the house needs instead: work that runs beside a body (`background`), work that ends with the first
that finishes (`first_of`), and a door that others wait at (`Latch`).
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NoReturn, TypeVar

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
        return
    except BaseExceptionGroup as group_of_errors:
        errors = group_of_errors
    _raise_unwrapped(errors)


async def first_of(*work: Coroutine[Any, Any, T]) -> T:
    """The result of whichever finishes first; the others are cancelled and awaited.

    If several finish at once, the first in the order given wins. An error of any of them, also of
    one that was cancelled and failed to clean up, comes out instead of the result.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
        return next(task for task in tasks if task in done).result()
    except BaseExceptionGroup as group_of_errors:
        errors = group_of_errors
    _raise_unwrapped(errors)


def _raise_unwrapped(errors: BaseExceptionGroup[BaseException]) -> NoReturn:
    """Raises the only error of a group as if it had never been in one, or else the group.

    Raising inside `except*` would wrap it again, and raising it at all makes Python overwrite its
    context with whatever is being handled, here the cancellation of the body.
    """
    error = errors.exceptions[0] if len(errors.exceptions) == 1 else errors
    context = error.__context__
    try:
        raise error
    finally:
        error.__context__ = context


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
