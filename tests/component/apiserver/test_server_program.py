"""The program itself: what it cannot start with it says in one sentence, and touches nothing."""

import asyncio
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.component.apiserver.program import Program, a_session

from kubevirt.apiserver.storage.sqlite.schema import VERSION

MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def program(tmp_path: Path, a_port: int) -> Program:
    folder = tmp_path / "data"
    folder.mkdir()
    return Program(folder, a_port)


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


async def _once(program: Program) -> None:
    async with program.running() as process, a_session() as session:
        await program.ready(process, session)


async def refusal(program: Program) -> str:
    """The one sentence."""
    ended = await program.ended()
    assert ended.exit_code == 1
    assert ended.text == ""
    said = ended.stderr.decode()
    assert said.startswith("kubevirt.apiserver: ")
    assert said.count("\n") == 1
    assert "Traceback" not in said
    return said.removeprefix("kubevirt.apiserver: ").strip()


async def test_it_ends_by_a_signal_and_leaves_one_whole_file(program: Program) -> None:
    async with program.running() as process, a_session() as session:
        await program.ready(process, session)
        process.send(signal.SIGTERM)
        assert await process.wait() == 0
    assert not program.store.with_name("store.db-wal").exists()
    assert program.log.read_text() == f"{program.url}\n"


async def test_a_store_in_use_by_another_process_is_left_alone(program: Program) -> None:
    async with program.running() as process, a_session() as session:
        await program.ready(process, session)
        said = await refusal(program)
        assert said == (
            f"the store {program.store} is in use by process {process.pid} ({name_of(process.pid)}); stop that process, or"
            " choose another folder"
        )
        async with session.get(program.url + MAPS) as answer:
            assert answer.status == 200


async def test_a_store_of_a_newer_version_is_left_alone(program: Program) -> None:
    await _once(program)
    with closing(sqlite3.connect(program.store)) as database:
        database.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = {each.name: each.read_bytes() for each in program.folder.iterdir()}
    assert await refusal(program) == (
        f"the store {program.store} was written by a newer version of this program (format"
        f" {VERSION + 1}, this one knows {VERSION}); start that version, or choose another folder"
    )
    after = {each.name: each.read_bytes() for each in program.folder.iterdir()}
    del before["store.db.lock"], after["store.db.lock"]  # it names who looked last
    assert after == before


async def test_a_file_that_is_no_store_is_left_alone(program: Program) -> None:
    program.store.write_text("dear diary\n" * 100)
    assert await refusal(program) == (
        f"{program.store} is no store of this program; move it away, or choose another folder"
    )
    assert program.store.read_text() == "dear diary\n" * 100


async def test_a_port_that_is_taken_is_named(program: Program, a_port: int) -> None:
    other = await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", a_port)
    async with other:
        assert await refusal(program) == (
            f"port {a_port} is in use by another process; choose another with --port"
        )
