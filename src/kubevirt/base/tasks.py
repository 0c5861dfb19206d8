"""Tasks with an owner.

`create_task` outside a TaskGroup is how background work gets lost; here are the three shapes that
the house needs instead: work that runs beside a body (`background`), work that ends with the first
that finishes (`first_of`), and a door that others wait at (`Latch`). `run` is for the first of them all: a
program that a person starts.
"""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from kubevirt.base.errors import KubevirtError

T = TypeVar("T")


def run(program: Coroutine[Any, Any, object]) -> None:
    """A whole program. What is raised on purpose ends it with its sentence and code 1, ^C without a word."""
    try:
        asyncio.run(program)
    except KubevirtError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


@asynccontextmanager
async def background(*work: Coroutine[Any, Any, object]) -> AsyncIterator[None]:
    """Runs `work` beside the body and cancels it when the body ends.

    If any of the work raises, the body is cancelled and the error comes out here, unwrapped when it
    is the only one: callers catch the error they know, not a group of one.
    """
    with _only_error_unwrapped():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
            yield
            for task in tasks:
                task.cancel()


async def first_of(*work: Coroutine[Any, Any, T]) -> T:
    """The result of whichever finishes first; the others are cancelled and awaited.

    If several finish at once, the first in the order given wins. An error of any of them, also of
    one that was cancelled and failed to clean up, comes out instead of the result.
    """
    with _only_error_unwrapped():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
            done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in pending:
                task.cancel()
    return next(task for task in tasks if task in done).result()


@contextmanager
def _only_error_unwrapped() -> Iterator[None]:
    """Takes an error out of its group if it is alone in there.

    Not with `except*`, which wraps again whatever is raised inside it. Raising an error anew makes
    Python overwrite its context with what is being handled, the group; the true one is put back.
    """
    try:
        yield
    except BaseExceptionGroup as group:
        if len(group.exceptions) > 1:
            raise
        error = group.exceptions[0]
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
