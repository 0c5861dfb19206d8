"""Whoever starts containers is killed at random moments: none is lost, doubled or left behind."""

import asyncio
import contextlib
import json
import os
import random
import signal
import sys
import uuid
from pathlib import Path

import pytest
from tests.component.embedded.runtime.containers import (
    IS_ROOT,
    LIMIT_S,
    ONLY_ROOT,
    shell,
    until,
)

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = [
    pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT),
    pytest.mark.timeout(240),
]

ATTEMPTS = 100

STARTER = """
import asyncio, sys
from pathlib import Path
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Container, Mount
from kubevirt.embedded.runtime.keeper import Keeper

program, folder, out, marker = sys.argv[1:]

async def start(number, keeper):
    script = f": {marker}; echo begun >> /out/{number}; sleep 0.05; echo done >> /out/{number}; exit {number % 7}"
    await Attempt(Path(folder, str(number))).start(
        Container(
            command=["sh", "-c", script],
            environment={"PATH": "/usr/bin:/bin"},
            mounts=[Mount(source=out, target="/out")],
        ),
        keeper,
    )

async def main():
    number = 1 + max((int(each.name) for each in Path(folder).iterdir()), default=-1)
    with Keeper.open(Path(program)) as keeper:
        print("ready", flush=True)
        while True:
            await asyncio.gather(*(start(number + more, keeper) for more in range(3)))
            number += 3

asyncio.run(main())
"""


async def killed_starter(*words: str, after_s: float) -> None:
    starter = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", STARTER, *words), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert starter.stdout is not None
        assert await starter.stdout.readline() == b"ready\n"
        await asyncio.sleep(after_s)
    finally:
        starter.kill()
        await starter.wait()


async def test_containers_outlive_who_starts_them_whenever_that_ends(
    attempts: Path, keeper_program: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("out")
    marker = uuid.uuid4().hex
    folder = attempts / "all"
    folder.mkdir()
    chance = random.Random(4)  # moments, not secrets
    kills = 0
    while len(Attempt.all_in(folder)) < ATTEMPTS:
        words = (str(keeper_program), str(folder), str(out), marker)
        await killed_starter(*words, after_s=chance.uniform(0, 0.3))
        kills += 1

    found = Attempt.all_in(folder)
    async with asyncio.timeout(LIMIT_S):
        endings = await asyncio.gather(*(each.ended() for each in found))

    begun = {each.name: each.read_text().split() for each in out.iterdir()}
    for attempt, ending in zip(found, endings, strict=True):
        number = attempt.folder.name
        if number in begun:
            assert begun[number] == ["begun", "done"]  # once, and to its end
            assert (ending.code, ending.is_lost) == (int(number) % 7, False)
        else:
            assert ending.is_lost  # it never began, and nobody says it did
    assert len(begun) > ATTEMPTS // 2
    assert kills > 3
    await until(lambda: not processes_with(marker))


def processes_with(marker: str) -> list[str]:
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if marker.encode() in file.read_bytes():
                found.append(file.parent.name)
    return found


async def test_a_container_ends_with_its_keeper_whenever_that_ends(
    attempts: Path, keeper: Keeper
) -> None:
    marker = uuid.uuid4().hex
    chance = random.Random(5)
    for number in range(30):
        attempt = Attempt(attempts / str(number))
        await attempt.start(shell(f": {marker}; exec sleep 1000.{number}"), keeper)
        await asyncio.sleep(chance.uniform(0, 0.05))
        started = json.loads((attempt.folder / "started.json").read_text())
        os.kill(started["keeper"], signal.SIGKILL)

    for attempt in Attempt.all_in(attempts):
        async with asyncio.timeout(LIMIT_S):
            assert (await attempt.ended()).is_lost
    await until(lambda: not processes_with(marker) and not processes_with("sleep\x001000."))


async def test_a_hundred_start_at_once(attempts: Path, keeper: Keeper, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    mounts = [Mount(source=str(out), target="/out")]
    found = [Attempt(attempts / str(number)) for number in range(ATTEMPTS)]

    await asyncio.gather(
        *(
            each.start(shell(f"touch /out/{each.folder.name}", mounts=mounts), keeper)
            for each in found
        )
    )
    async with asyncio.timeout(60):
        endings = await asyncio.gather(*(each.ended() for each in found))

    assert {each.code for each in endings} == {0}
    assert len(list(out.iterdir())) == ATTEMPTS
