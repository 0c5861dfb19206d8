"""Asks a program that is starting whether it is ready: at its port, as a kubelet would, but believing nobody else there."""

import asyncio
from collections.abc import Sequence
from typing import Final

from kubevirt.base.clock import Clock
from kubevirt.base.errors import KubevirtError
from kubevirt.embedded.programs.command_lines import Standing
from kubevirt.kube.access.config import Config
from kubevirt.kube.access.material import File
from kubevirt.kube.client import Client
from kubevirt.virt.install.options import NAMESPACE

EVERY_S: Final = 0.1
"""A program takes a second or two to load, and there is no event for when it has."""
ANSWER_S: Final = 5.0


async def until_ready(standing: Standing, program: str, ports: Sequence[int], clock: Clock) -> None:
    """Without a limit of its own: whoever ends before it is ready says why, and who is not ready is seen to be."""
    config = Config(
        server=f"https://{standing.address}:{standing.port}",
        ca=File(standing.authority, "certificate authority of the home,"),
        tls_server_name=f"{program}.{NAMESPACE}.svc",
        origin=program,
    )
    async with Client(config, clock=clock) as client:
        while not await _is_ready(client, clock):
            await clock.sleep(EVERY_S)
    for port in ports:
        while not await _is_open(standing.address, port, clock):
            await clock.sleep(EVERY_S)


async def _is_ready(client: Client, clock: Clock) -> bool:
    try:
        async with clock.timeout(ANSWER_S):
            await client.raw("GET", "/readyz", accept="*/*")
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
