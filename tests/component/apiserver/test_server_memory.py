"""How much memory the server takes, and that it gives back what it no longer needs."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.component.apiserver.conftest import soak
from tests.component.apiserver.program import Program, a_session

MAPS = "/api/v1/namespaces/default/configmaps"
MIB = 1 << 20
CHURN = soak("SOAK_SERVER_CHURN", 10_000)
"""Objects that come and go."""
CLIENTS = 16
WATCHERS = 1000
MOST_OF_A_WATCHER = 64 * 1024
ANSWERS_S = 5.0
"""For a create and twenty lists while a thousand are told of it: a fraction of a second, on a machine that has
nothing else to do.
"""


@dataclass(frozen=True)
class Running:
    pid: int
    url: str
    session: aiohttp.ClientSession

    @property
    def rss(self) -> int:
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    @property
    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def list(self) -> dict[str, Any]:
        async with self.session.get(self.url + MAPS) as answer:
            assert answer.status == 200
            found: dict[str, Any] = await answer.json()
            return found

    async def churn(self, count: int) -> None:
        """Creates and deletes so many objects of a few kilobytes."""
        left = iter(range(count))

        async def client() -> None:
            for number in left:
                body = {"metadata": {"name": f"c-{number}"}, "data": {"x": "y" * 3000}}
                async with self.session.post(self.url + MAPS, json=body) as answer:
                    assert answer.status == 201, await answer.text()
                async with self.session.delete(f"{self.url}{MAPS}/c-{number}") as answer:
                    assert answer.status == 200, await answer.text()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(CLIENTS):
                tasks.create_task(client())


@asynccontextmanager
async def running(tmp_path: Path, port: int, *options: str) -> AsyncIterator[Running]:
    program = Program(tmp_path / "data", port, options)
    program.folder.mkdir()
    async with program.running() as process, a_session(connections=WATCHERS + 10) as session:
        await program.ready(process, session)
        yield Running(process.pid, program.url, session)


@pytest.mark.timeout(60 + CHURN // 20)
async def test_what_comes_and_goes_leaves_no_memory_behind(tmp_path: Path, a_port: int) -> None:
    async with running(tmp_path, a_port, "--keep-s", "0.5") as server:
        watch = await server.session.get(f"{server.url}{MAPS}?watch=1&resourceVersion=0")
        async with watch:
            reading = asyncio.ensure_future(watch.content.readany())
            await server.churn(1000)  # caches fill, once
            reading.cancel()
        before = server.rss
        await server.churn(CHURN)
        assert server.rss - before < 10 * MIB


async def test_a_thousand_idle_watchers_cost_little(tmp_path: Path, a_port: int) -> None:
    async with running(tmp_path, a_port) as server:
        before = server.rss
        now = (await server.list())["metadata"]["resourceVersion"]
        watch = f"{server.url}{MAPS}?watch=1&resourceVersion={now}"
        answers = await asyncio.gather(*(server.session.get(watch) for _ in range(WATCHERS)))
        try:
            assert {answer.status for answer in answers} == {200}
            assert (server.rss - before) / WATCHERS < MOST_OF_A_WATCHER
            idle = server.cpu_s
            await asyncio.sleep(1)
            assert server.cpu_s - idle < 0.1
            body = {"metadata": {"name": "one"}}
            async with asyncio.timeout(60):
                async with asyncio.TaskGroup() as tasks:
                    lines = [tasks.create_task(each.content.readline()) for each in answers]
                    began = time.monotonic()
                    async with server.session.post(server.url + MAPS, json=body) as answer:
                        assert answer.status == 201
                    for _ in range(20):  # while they are told of it
                        await server.list()
                    took = time.monotonic() - began
            assert all(b'"name":"one"' in each.result() for each in lines)
            assert took < ANSWERS_S
            assert (server.rss - before) / WATCHERS < MOST_OF_A_WATCHER
        finally:
            for answer in answers:
                answer.close()
