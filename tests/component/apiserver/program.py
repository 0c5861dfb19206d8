"""The API server as a program of its own: started, asked, killed and started again on the same data."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from kubevirt import base
from kubevirt.base.commands import ENVIRONMENT, Completed, Process, run, spawn

TOKEN = "administrator"
LIMIT_S = 60.0
_SAME_CODE = {**ENVIRONMENT, "PYTHONPATH": str(Path(base.__file__).parents[2])}
"""The program runs what its test was written for, wherever that lies."""


@dataclass(frozen=True)
class Program:
    folder: Path
    """Of the store; everything else is beside it."""
    port: int
    options: Sequence[str] = ()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    @property
    def log(self) -> Path:
        return self.folder.with_name(f"{self.folder.name}.log")

    @property
    def argv(self) -> list[str]:
        token = self.folder.with_name(f"{self.folder.name}.token")
        token.write_text(TOKEN)
        words = [sys.executable, "-W", "error", "-m", "kubevirt.apiserver"]
        words += ["--data", str(self.store), "--port", str(self.port)]
        return [*words, "--token-file", str(token), *self.options]

    @asynccontextmanager
    async def running(self, *, within: Sequence[str] = ()) -> AsyncIterator[Process]:
        """`within` is a program that starts another one, with its arguments."""
        argv = [*within, *self.argv]
        with self.log.open("ab") as output:
            async with spawn(
                argv[0], *argv[1:], output=output, env=_SAME_CODE, grace_s=5
            ) as process:
                yield process

    async def ended(self) -> Completed:
        """Runs it to its end, which should come soon and by itself."""
        argv = self.argv
        return await run(argv[0], *argv[1:], env=_SAME_CODE, timeout_s=LIMIT_S, check=False)

    async def ready(self, process: Process, session: aiohttp.ClientSession) -> None:
        async with asyncio.timeout(LIMIT_S):
            while not await self._is_ready(session):
                assert process.is_running, self.log.read_text()
                await asyncio.sleep(0.01)

    async def _is_ready(self, session: aiohttp.ClientSession) -> bool:
        try:
            async with session.get(f"{self.url}/readyz") as answer:
                return answer.status == 200
        except (aiohttp.ClientError, OSError):
            return False


def a_session(**options: float) -> aiohttp.ClientSession:
    """Of an administrator."""
    limits = aiohttp.ClientTimeout(total=None, sock_connect=LIMIT_S, sock_read=LIMIT_S)
    return aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {TOKEN}"},
        timeout=limits,
        connector=aiohttp.TCPConnector(limit=int(options.get("connections", 100))),
    )
