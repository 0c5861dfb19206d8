"""What the program in Go does to a server, and what it tells of it."""

import asyncio
import os
from pathlib import Path

import msgspec

from clusterup import errors

LIMIT_S = 240.0


class Rate(msgspec.Struct, frozen=True):
    """So many answers in so many seconds, and how long one took."""

    count: int
    seconds: float
    median_s: float
    p99_s: float

    @property
    def per_second(self) -> float:
        return self.count / self.seconds if self.seconds else 0.0


class Creates(msgspec.Struct, frozen=True):
    creates: Rate
    lists: Rate
    """Of those who listed meanwhile."""


class Lists(msgspec.Struct, frozen=True):
    lists: Rate
    bytes: int


class FanOut(msgspec.Struct, frozen=True):
    events: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.events / self.seconds


class Load:
    """One collection of one server, as the program meets it."""

    def __init__(self, program: Path, kubeconfig: Path, path: str) -> None:
        self._argv = [str(program), "-kubeconfig", str(kubeconfig), "-path", path]

    async def create(
        self,
        body: Path,
        prefix: str,
        *,
        clients: int,
        listers: int = 0,
        seconds: float = 0,
        objects: int = 0,
    ) -> Creates:
        """For so long, or until there are so many."""
        said = await self._do(
            *("create", "-body", str(body), "-prefix", prefix, "-clients", str(clients)),
            *("-listers", str(listers), "-seconds", str(seconds), "-objects", str(objects)),
        )
        return msgspec.json.decode(said, type=Creates)

    async def get(self, prefix: str, *, clients: int, seconds: float, objects: int) -> Rate:
        said = await self._do(
            *("get", "-prefix", prefix, "-clients", str(clients)),
            *("-seconds", str(seconds), "-objects", str(objects)),
        )
        return msgspec.json.decode(said, type=Rate)

    async def list(self, rounds: int) -> Lists:
        return msgspec.json.decode(await self._do("list", "-rounds", str(rounds)), type=Lists)

    async def fan_out(
        self, body: Path, prefix: str, *, clients: int, watchers: int, objects: int
    ) -> FanOut:
        said = await self._do(
            *("watch", "-body", str(body), "-prefix", prefix, "-clients", str(clients)),
            *("-watchers", str(watchers), "-objects", str(objects)),
        )
        return msgspec.json.decode(said, type=FanOut)

    async def _do(self, what: str, *words: str) -> bytes:
        kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
        process = await asyncio.create_subprocess_exec(
            # When this driver dies, even by `kill -9`, the kernel ends the program too.
            *("setpriv", "--pdeathsig", "KILL", "--", *self._argv, "-do", what, *words),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=kept,
        )
        try:
            async with asyncio.timeout(LIMIT_S):
                said, complained = await process.communicate()
        except TimeoutError:
            process.kill()
            await process.wait()
            raise errors.Broken(f"`{what}` took more than {LIMIT_S:g} s") from None
        if process.returncode:
            raise errors.Broken(complained.decode(errors="replace").strip())
        return said
