"""Asks a program how it is: at its port, as a kubelet would, but believing nobody else there."""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError, Retry
from kubevirt.embedded.programs.command_lines import Standing
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.material import File
from kubevirt.kube.client import Client
from kubevirt.kube.errors import ApiError
from kubevirt.virt.install.options import NAMESPACE

EVERY_S: Final = 0.1
"""While it starts: that takes a second or two, and there is no event for when it is done."""
ANSWER_S: Final = 10.0
LOOK_S: Final = 10.0
"""While it is at work."""
PATIENCE: Final = 6
"""Times in a row without an answer, after which it hangs: a minute or two, for machines that are busy."""


class Line(Protocol):
    """What is asked of a client."""

    async def raw(self, method: str, path: str, *, accept: str) -> bytes: ...


def line(standing: Standing, program: str, clock: Clock) -> Client:
    config = Config(
        server=f"https://{standing.address}:{standing.port}",
        ca=File(standing.authority, "certificate authority of the home,"),
        tls_server_name=f"{program}.{NAMESPACE}.svc",
        origin=program,
    )
    return Client(config, clock=clock)


async def until_ready(client: Line, address: str, ports: Sequence[int], clock: Clock) -> None:
    """Without a limit of its own: whoever ends before it is ready says why, and who is not ready is seen to be.
    `ports` are further ones that it opens when it is.
    """
    while not await _is_ready(client, clock):
        await clock.sleep(EVERY_S)
    for port in ports:
        while not await _is_open(address, port, clock):
            await clock.sleep(EVERY_S)


async def until_silent(client: Line, clock: Clock) -> None:
    """Raises `Retry` when it hangs. Whoever answers that something is wrong does not: it knows, and will mend it."""
    missed = 0
    while missed < PATIENCE:
        await clock.sleep(LOOK_S)
        missed = 0 if await _answers(client, clock) else missed + 1
    raise Retry(f"it runs, and has left {PATIENCE} questions unanswered")


async def _is_ready(client: Line, clock: Clock) -> bool:
    try:
        async with clock.timeout(ANSWER_S):
            await client.raw("GET", "/readyz", accept="*/*")
    except (KubevirtError, TimeoutError):
        return False
    return True


async def _answers(client: Line, clock: Clock) -> bool:
    try:
        async with clock.timeout(ANSWER_S):
            await client.raw("GET", "/healthz", accept="*/*")
    except ApiError:
        return True
    except (KubevirtError, TimeoutError):
        return False
    return True


async def _is_open(address: str, port: int, clock: Clock) -> bool:
    try:
        async with clock.timeout(ANSWER_S):
            _, writer = await asyncio.open_connection(address, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
