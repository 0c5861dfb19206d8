"""A commission is carried out once it is there, and its outcome is told; nothing in the folder is trusted."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from kubevirt.base.errors import Retry, UnsafePath, UserError
from kubevirt.components.launcher.commission import Commission
from kubevirt.components.launcher.preparer import PreparerDied

ME = os.getuid()


async def started(instance: bytes) -> str:
    return f"{instance.decode()} runs"


async def refusing(_: bytes) -> str:
    raise UserError("there is no such disk")


async def failing(_: bytes) -> str:
    raise ZeroDivisionError


async def dying(_: bytes) -> str:
    raise PreparerDied


@pytest.mark.parametrize("who_is_first", ["launcher", "giver"])
async def test_whoever_comes_first_waits_for_the_other(tmp_path: Path, who_is_first: str) -> None:
    commission = Commission(tmp_path)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        if who_is_first == "launcher":
            tasks.create_task(commission.carried_out(started))
        given = tasks.create_task(commission.given(b"testvm", reader=ME))
        await asyncio.sleep(0)
        if who_is_first == "giver":
            tasks.create_task(commission.carried_out(started))
    assert given.result() == "testvm runs"


async def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    await both(Commission(tmp_path), started)
    found = (tmp_path / "commission.json").stat()
    assert (found.st_uid, found.st_mode & 0o777) == (ME, 0o600)


async def test_a_refusal_is_told_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^there is no such disk$"):
        await both(Commission(tmp_path), refusing)


async def test_a_bug_is_an_outcome_too(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ZeroDivisionError"):
        await both(Commission(tmp_path), failing)


async def test_a_manager_that_dies_leaves_the_commission_to_the_next_one(tmp_path: Path) -> None:
    commission = Commission(tmp_path)
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        given = tasks.create_task(commission.given(b"testvm", reader=ME))
        with pytest.raises(PreparerDied):
            await commission.carried_out(dying)
        await commission.carried_out(started)
    assert given.result() == "testvm runs"


async def test_a_commission_is_carried_out_once(tmp_path: Path) -> None:
    commission = Commission(tmp_path)
    assert await both(commission, started) == "testvm runs"
    await commission.carried_out(failing)
    assert await commission.given(b"testvm", reader=ME) == "testvm runs"


async def test_an_outcome_that_makes_no_sense_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").write_text("[")
    with pytest.raises(Retry, match="cannot be understood"):
        await Commission(tmp_path).given(b"testvm", reader=ME)


async def test_an_outcome_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").symlink_to("/etc/passwd")
    with pytest.raises(UnsafePath):
        await Commission(tmp_path).given(b"testvm", reader=ME)


async def both(commission: Commission, start: Callable[[bytes], Awaitable[str]]) -> str:
    """The giver's end of it."""
    async with asyncio.timeout(10):
        _, given = await asyncio.gather(
            commission.carried_out(start), commission.given(b"testvm", reader=ME)
        )
        return given
