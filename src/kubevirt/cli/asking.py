"""One conversation with a server: opened for one command, closed with it.

def command(…) -> int:
    return asking.ask(partial(_work, …))

async def _work(…, session: Session) -> int: …
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Final, TypeVar

import click

from kubevirt.cli import access
from kubevirt.kube.client import Client
from kubevirt.kube.http.request import Limits

T = TypeVar("T")

SHOWN_FROM: Final = 6
"""As with kubectl."""
COMPARING_S: Final = 1.0
"""How long a command that is done waits for the server's version, which was asked for when it began."""


@dataclass(frozen=True, slots=True)
class Session:
    client: Client
    namespace: str
    """For those who name none."""

    @property
    def server(self) -> str:
        return self.client.config.server


def ask(work: Callable[[Session], Awaitable[T]], *, compares: bool = True) -> T:
    """`compares` is whether a server of another version than ours is to be told of."""
    return asyncio.run(_asked(access.current(), work, compares=compares))


async def _asked(
    given: access.Access, work: Callable[[Session], Awaitable[T]], *, compares: bool
) -> T:
    config = given.config(os.environ)
    limits = Limits(call_s=given.request_timeout_s) if given.request_timeout_s else Limits()
    async with Client(config, on_warning=_warn, limits=limits) as client:
        if given.verbosity >= SHOWN_FROM:
            client.traffic.on_answer = _show
        session = Session(client, config.namespace)
        async with _compared(session) if compares else nullcontext():
            return await work(session)


@asynccontextmanager
async def _compared(session: Session) -> AsyncIterator[None]:
    """Versions, beside the work: who asks a server of another release should know, above all when something fails."""
    from kubevirt.cli import versions  # noqa: PLC0415  # it asks, too

    task = asyncio.create_task(versions.compare(session))
    try:
        yield
    finally:
        await asyncio.wait([task], timeout=COMPARING_S)
        task.cancel()
        await asyncio.wait([task])


def _show(method: str, url: str, code: int | None, seconds: float) -> None:
    answer = "was not answered" if code is None else str(code)
    click.echo(f"virtctl: {method} {url} {answer} in {seconds * 1000:.0f} ms", err=True)


def _warn(text: str) -> None:
    click.echo(f"Warning: {text}", err=True)
