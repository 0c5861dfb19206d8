"""The whole server, killed at any moment under load: nothing that was acknowledged is lost, no version goes
back, and whoever watched goes on or is told to begin anew.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.component.apiserver.conftest import soak
from tests.component.apiserver.program import LIMIT_S, Program, a_session
from tests.component.apiserver.server_load import Watcher, World, Writer

from kubevirt.base.tasks import background

KILLS = soak("SOAK_SERVER_KILLS", 10)
WRITERS = 6


class Load:
    def __init__(self, world: World, chance: random.Random) -> None:
        self.world = world
        self.writers = [Writer(world, f"writer-{n}", chance) for n in range(WRITERS)]
        self.watchers = [Watcher(world), Watcher(world, rests_s=1.0)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        writers = [each.run() for each in self.writers]
        async with background(*writers, *(each.run() for each in self.watchers)):
            yield

    async def check(self) -> None:
        """Before any writer goes on."""
        _, found = await self.world.all()
        for writer in self.writers:
            writer.check_all(found)

    @property
    def writes(self) -> int:
        return sum(writer.writes for writer in self.writers)


async def _a_life(program: Program, load: Load, chance: random.Random) -> None:
    """From a start to a kill: mostly under load, sometimes in the middle of the start."""
    async with program.running() as process:
        if chance.random() < 0.2:
            await asyncio.sleep(chance.uniform(0, 0.5))
        else:
            await program.ready(process, load.world.session)
            await load.check()
            before = load.writes
            load.world.up.set()
            async with asyncio.timeout(LIMIT_S):
                while load.writes == before:  # noqa: ASYNC110  # any of the writers
                    await asyncio.sleep(0.001)
            await asyncio.sleep(chance.uniform(0, 0.3))
        assert process.is_running, program.log.read_text()
        load.world.up.clear()
        process.kill()
        await process.wait()


async def _a_last_look(program: Program, load: Load) -> None:
    """All writers rest; all watchers must see what there is."""
    async with program.running() as process:
        await program.ready(process, load.world.session)
        await load.check()
        _, found = await load.world.all()
        load.world.up.set()
        async with asyncio.timeout(LIMIT_S), background(*(each.run() for each in load.watchers)):
            while any(each.objects != found for each in load.watchers):  # noqa: ASYNC110  # they tell
                await asyncio.sleep(0.01)


@pytest.mark.timeout(60 + 10 * KILLS)
@pytest.mark.parametrize("options", [(), ("--keep-s", "0.2")], ids=["remembering", "forgetting"])
async def test_a_server_killed_at_any_moment_keeps_what_it_acknowledged(
    tmp_path: Path, options: tuple[str, ...], a_port: int
) -> None:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    program = Program(tmp_path / "data", a_port, options)
    program.folder.mkdir()
    async with a_session() as session:
        load = Load(World(session, program.url), chance)
        async with load.running():
            for _ in range((KILLS + 1) // 2):
                await _a_life(program, load, chance)
        await _a_last_look(program, load)
    text = program.log.read_text()
    assert "Traceback" not in text, text
    told = [sum(getattr(each, name) for each in load.watchers) for name in ("resumed", "expired")]
    doubts = sum(writer.doubts for writer in load.writers)
    sys.stdout.write(
        f"seed {seed}: {(KILLS + 1) // 2} kills, {load.writes} writes acknowledged, {doubts} in doubt;"
        f" watches resumed {told[0]}, expired {told[1]}; newest version {load.world.newest}\n"
    )


async def test_what_a_kill_tore_at_the_end_of_the_log_was_never_acknowledged(
    tmp_path: Path, a_port: int
) -> None:
    chance = random.Random(7)
    program = Program(tmp_path / "data", a_port)
    program.folder.mkdir()
    async with a_session() as session:
        load = Load(World(session, program.url), chance)
        async with load.running():
            async with program.running() as process:
                await program.ready(process, session)
                load.world.up.set()
                async with asyncio.timeout(LIMIT_S):
                    while load.writes < 50:  # noqa: ASYNC110  # any of the writers
                        await asyncio.sleep(0.001)
                load.world.up.clear()
                process.kill()
                await process.wait()
            wal = program.store.with_name("store.db-wal")
            with wal.open("ab") as file:
                file.write(chance.randbytes(10_000))
        await _a_last_look(program, load)
