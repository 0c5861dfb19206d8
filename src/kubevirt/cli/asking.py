"""One conversation with a server: opened for one command, closed with it.

def command(…) -> int:
    return asking.ask(partial(_work, …))

async def _work(…, session: Session) -> int: …
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import click

from kubevirt.cli import access
from kubevirt.kube.client import Client
from kubevirt.kube.http.request import Limits

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Session:
    client: Client
    namespace: str
    """For those who name none."""

    @property
    def server(self) -> str:
        return self.client.config.server


def ask(work: Callable[[Session], Awaitable[T]]) -> T:
    return asyncio.run(_asked(access.current(), work))


async def _asked(given: access.Access, work: Callable[[Session], Awaitable[T]]) -> T:
    config = given.config(os.environ)
    limits = Limits(call_s=given.request_timeout_s) if given.request_timeout_s else Limits()
    async with Client(config, on_warning=_warn, limits=limits) as client:
        return await work(Session(client, config.namespace))


def _warn(text: str) -> None:
    click.echo(f"Warning: {text}", err=True)
