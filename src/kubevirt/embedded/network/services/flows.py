"""Connections of datagrams that the kernel still leads to an endpoint that is gone.

It remembers for minutes who answered a client's port, as long as the client keeps sending: nobody says that a
flow of datagrams has ended. Connections end by themselves, when nobody answers.
"""

import asyncio
import shutil
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from kubevirt.base import commands
from kubevirt.embedded.network.services.fronts import Front

PROGRAM: Final = "conntrack"
MOST: Final = 200
"""Forgotten at once. More of them end by themselves."""
TIMEOUT_S: Final = 10.0


class Flow(NamedTuple):
    address: str
    port: int
    backend: str


def flows(fronts: Iterable[Front]) -> set[Flow]:
    return {
        Flow(front.address, front.port, backend.address)
        for front in fronts
        if front.protocol == "udp"
        for backend in front.backends
    }


def forget(gone: Sequence[Flow]) -> None:
    """In the calling thread's namespace. Where the program is missing, they end by themselves."""
    if gone and shutil.which(PROGRAM, path=commands.SEARCH_PATH):
        asyncio.run(_forget(gone[:MOST]))


async def _forget(gone: Sequence[Flow]) -> None:
    for each in gone:
        await commands.run(
            PROGRAM,
            "-D",
            "-p",
            "udp",
            "--orig-dst",
            each.address,
            "--orig-port-dst",
            str(each.port),
            "--dst-nat",
            each.backend,
            timeout_s=TIMEOUT_S,
            check=False,  # there was none
        )
