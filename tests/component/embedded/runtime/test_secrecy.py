"""What others on the machine, and others in containers, do not get to see or to say."""

import asyncio
import uuid
from pathlib import Path

import pytest
from tests.component.embedded.runtime.containers import (
    IS_ROOT,
    ONLY_ROOT,
    PATH,
    ran,
    said,
    shell,
    until,
)

from kubevirt.base.errors import CommandFailed
from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.runtime.joining import completed
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)


async def test_the_variables_of_a_container_are_in_no_command_line(
    attempts: Path, keeper: Keeper
) -> None:
    """Everybody on the machine may read those, and secrets of pods are variables."""
    secret = uuid.uuid4().hex
    attempt = Attempt(attempts / "0")
    script = "test -n $SECRET && echo here; exec sleep 1000"

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(asyncio.to_thread(_seen, secret, attempt))
        await attempt.start(shell(script, environment={**PATH, "SECRET": secret}), keeper)
        await until(lambda: "here" in said(attempt))
        (attempt.folder / "enough").touch()
        assert await watching == []


async def test_the_variables_of_a_command_that_joins_are_in_no_command_line(
    attempts: Path, keeper: Keeper
) -> None:
    secret = uuid.uuid4().hex
    attempt = Attempt(attempts / "0")
    container = shell("exec sleep 1000", environment={**PATH, "SECRET": secret})
    await attempt.start(container, keeper)

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(asyncio.to_thread(_seen, secret, attempt))
        outcome = await completed(attempt, keeper, ["sh", "-c", "printf %s $SECRET; sleep 0.3"])
        (attempt.folder / "enough").touch()
        assert await watching == []
    assert outcome.output.decode() == secret


def _seen(secret: str, attempt: Attempt) -> list[str]:
    seen = []
    while not (attempt.folder / "enough").exists():
        for file in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if secret.encode() in file.read_bytes():
                    seen.append(str(file))
            except OSError:  # it has ended
                continue
    return seen


@pytest.mark.parametrize("where", ["value", "name", "hostname", "target"])
async def test_no_value_becomes_an_option_of_the_sandbox(
    attempts: Path, keeper: Keeper, tmp_path: Path, where: str
) -> None:
    (tmp_path / "machine").mkdir()
    bad = f"x\0--bind\0{tmp_path}\0/machine"
    container = {
        "value": shell("ls /machine", environment={**PATH, "A": bad}),
        "name": shell("ls /machine", environment={**PATH, bad: "A"}),
        "hostname": shell("ls /machine", hostname=bad),
        "target": shell("ls /machine", mounts=[Mount(source=str(tmp_path), target=bad)]),
    }[where]

    with pytest.raises(CommandFailed, match="cannot be run"):
        await ran(Attempt(attempts / "0"), container, keeper)


@pytest.mark.parametrize("value", ["--", "--bind", "-", "", "a\nb", "ä€😀"])
async def test_a_variable_is_what_it_is(attempts: Path, keeper: Keeper, value: str) -> None:
    attempt = Attempt(attempts / "0")

    await ran(attempt, shell('printf %s "$A"', environment={**PATH, "A": value}), keeper)

    assert said(attempt) == value
