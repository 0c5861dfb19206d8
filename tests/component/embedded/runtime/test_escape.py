"""Root in a container looks for a way out. Each test is one that somebody, somewhere, found open."""

import asyncio
import contextlib
import shutil
import signal
import socket
import textwrap
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.component.embedded.runtime.cell import SECRET, Cell
from tests.component.embedded.runtime.containers import (
    IS_ROOT,
    ONLY_ROOT,
    python,
    said,
    shell,
    until,
)

from kubevirt.embedded.runtime.attempt import Attempt
from kubevirt.embedded.runtime.container import Mount, Rights
from kubevirt.embedded.runtime.keeper import Keeper

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)


async def test_no_file_of_the_machine_is_found(cell: Cell, treasure: Path) -> None:
    found = await cell.tries(
        shell(
            f"find / -xdev -name '*treasure*'; find / -name '*{SECRET}*' 2>/dev/null; ls /home /boot"
        )
    )

    assert SECRET not in found
    assert "'/home'" in found
    assert "'/boot'" in found


async def test_only_what_may_be_seen_is_at_the_top(cell: Cell) -> None:
    found = await cell.tries(shell("ls -A / /etc /run /root /var /var/lib"))

    tops = set(found.partition("\n\n")[0].splitlines()[1:])
    assert tops <= {
        *("bin", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "run", "sbin"),
        *("sys", "tmp", "usr", "var"),
    }
    for secret in ("shadow", "ssh", "kubernetes", "machine-id", "sudoers", "ssl/private", "docker"):
        assert secret not in found.split()


async def test_no_descriptor_leads_outside(cell: Cell, treasure: Path) -> None:
    script = f"""
        for number in range(3, 256):
            for way in ("..", "../../..", "root", "tmp"):
                try:
                    print(open(f"/proc/self/fd/{{number}}/{{way}}/{treasure.name}").read())
                except OSError:
                    pass
        for pid in ("1", "self", "2"):
            for way in ("root", "cwd"):
                try:
                    print(open(f"/proc/{{pid}}/{{way}}{treasure}").read())
                except OSError:
                    pass
        print("done")
    """

    assert await cell.tries(python(textwrap.dedent(script))) == "done"


async def test_no_other_process_is_seen_or_reached(cell: Cell) -> None:
    mine = await asyncio.create_subprocess_exec("sleep", "1000")
    try:
        script = (
            "ls -d /proc/[0-9]* | wc -l; cat /proc/1/comm;"
            f" kill -0 {mine.pid} && echo reached; ls /proc/{mine.pid} && echo seen"
        )
        found = await cell.tries(shell(script))
        assert found.splitlines()[1] == "sh"
        assert int(found.splitlines()[0]) <= 4
        if mine.pid > 20:
            assert "reached" not in found
            assert "seen" not in found
    finally:
        mine.kill()
        await mine.wait()


@pytest.fixture
async def network() -> AsyncIterator[str]:
    """A network namespace of its own, as every pod has."""
    name = f"kvt{uuid.uuid4().hex[:8]}"
    making = await asyncio.create_subprocess_exec("ip", "netns", "add", name)
    assert await making.wait() == 0
    yield f"/run/netns/{name}"
    removing = await asyncio.create_subprocess_exec("ip", "netns", "delete", name)
    assert await removing.wait() == 0


async def test_abstract_sockets_of_the_machine_are_in_another_network(
    cell: Cell, network: str
) -> None:
    if shutil.which("ip") is None:
        pytest.skip("no ip: install iproute2")
    address = f"\0treasure-{uuid.uuid4().hex}"
    script = textwrap.dedent(
        f"""
        import socket
        it = socket.socket(socket.AF_UNIX)
        try:
            it.connect({address!r}); print("reached")
        except OSError as error:
            print(error.strerror)
        print(sorted(name for _, name in socket.if_nameindex()))
        """
    )
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as server:
        server.bind(address)
        server.listen()
        found = await cell.tries(python(script, network=network))

    assert found.splitlines() == ["Connection refused", "['lo']"]


async def test_the_network_of_another_pod_is_not_entered(cell: Cell, network: str) -> None:
    found = await cell.tries(
        shell("ls -la /proc/1/ns/net; nsenter --net=/proc/1/ns/net true", network=network)
    )

    assert "not permitted" in found or "ermission denied" in found


async def test_a_container_does_not_change_the_program_that_starts_the_next(cell: Cell) -> None:
    """The keeper is what a container is started by; its file can be seen for a moment, never written."""
    script = """
        import os
        for number in range(0, 256):
            for flags in (os.O_WRONLY, os.O_RDWR):
                try:
                    path = os.readlink(f"/proc/self/fd/{number}")
                    if "keeper" in path: print("has it open")
                except OSError:
                    pass
        for pid in [each for each in os.listdir("/proc") if each.isdigit()]:
            try:
                if "keeper" in os.readlink(f"/proc/{pid}/exe"):
                    print("sees it"); os.open(f"/proc/{pid}/exe", os.O_WRONLY); print("changes it")
            except OSError:
                pass
    """

    assert await cell.tries(python(textwrap.dedent(script))) == ""


def folder_with_a_program_of_root(above: Path) -> Path:
    volume = above / "volume"
    volume.mkdir(mode=0o755)
    above.chmod(0o755)
    shutil.copy("/usr/bin/id", volume / "id")
    (volume / "id").chmod(0o4755)
    return volume


async def test_rights_do_not_come_back(cell: Cell, tmp_path: Path) -> None:
    """A program that gives root's rights away gives none: neither from /usr nor from a volume."""
    volume = folder_with_a_program_of_root(tmp_path)
    rights = Rights(user=1000, group=1000, capabilities=())
    mounts = [Mount(source=str(volume), target="/data")]

    found = await cell.tries(
        shell("/data/id -u; grep NoNewPrivs /proc/self/status", rights=rights, mounts=mounts)
    )

    assert found.split() == ["1000", "NoNewPrivs:", "1"]


async def test_a_container_that_is_killed_leaves_no_process(cell: Cell, keeper: Keeper) -> None:
    marker = str(900_000 + int(uuid.uuid4().int % 99_999))
    attempt = Attempt(cell.folder / "0")
    script = f"for i in 1 2 3; do setsid sleep {marker} & done; echo here; trap '' TERM; wait"
    await attempt.start(shell(script), keeper, cell.filter)
    await until(lambda: "here" in said(attempt))

    attempt.signal(signal.SIGKILL)

    await until(lambda: not running(marker))


def running(marker: str) -> bool:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if marker.encode() in file.read_bytes().split(b"\0"):
                return True
    return False
