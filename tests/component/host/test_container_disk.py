"""The helper in a container that holds nothing but itself and a disk."""

import asyncio
import os
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kubevirt.base import commands
from kubevirt.base.commands import Process

SOURCE = Path(__file__).parents[3] / "container-disk"

pytestmark = [
    pytest.mark.skipif(not shutil.which("gcc"), reason="no compiler: install gcc and libc6-dev"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no sandbox: install bubblewrap"),
]


@pytest.fixture(scope="session")
def helper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("container-disk") / "container-disk")


def built(target: Path) -> Path:
    subprocess.run([SOURCE / "build.sh", target], check=True, timeout=50)
    return target


class Container:
    """A root file system with the helper, a disk, and a folder that the node sees too."""

    def __init__(self, folder: Path, helper: Path) -> None:
        self.root = folder / "root"
        self.shared = folder / "shared"
        for each in (self.root / "disk", self.root / "shared", self.root / "usr", self.shared):
            each.mkdir(parents=True)
        (self.root / "disk" / "demo.img").write_bytes(b"the disk")
        shutil.copy(helper, self.root / "usr" / "container-disk")
        os.chmod(self.shared, 0o777)  # noqa: PTH101  # whoever runs in the container writes here

    @property
    def socket(self) -> Path:
        return self.shared / "disk_0.sock"

    def command(self, *args: str) -> list[str]:
        """Bubblewrap as a container engine: nobody's rights, process number one, nothing around."""
        sandbox = [
            "--unshare-all",
            "--as-pid-1",
            "--uid",
            "107",
            "--gid",
            "107",
            "--cap-drop",
            "ALL",
        ]
        mounts = ["--ro-bind", str(self.root), "/", "--bind", str(self.shared), "/shared"]
        return ["bwrap", *sandbox, *mounts, "/usr/container-disk", *args]

    async def ends(self, *args: str) -> commands.Completed:
        program, *rest = self.command(*args)
        return await commands.run(program, *rest, check=False, timeout_s=60)

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[Process]:
        program, *rest = self.command("--copy-path", "/shared/disk_0")
        async with commands.spawn(program, *rest) as process:
            async with asyncio.timeout(60):
                while self.peer() is None:  # noqa: ASYNC110  # a socket appears without an event
                    await asyncio.sleep(0.01)
            yield process

    def peer(self) -> int | None:
        """The helper's process number, as the node's handler learns it."""
        with socket.socket(socket.AF_UNIX) as caller:
            try:
                caller.connect(str(self.socket))
            except (FileNotFoundError, ConnectionRefusedError):
                return None
            said = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
            pid: int = struct.unpack("3i", said)[0]
            return pid


@pytest.fixture
def container(tmp_path: Path, helper: Path) -> Container:
    return Container(tmp_path, helper)


def content(path: str) -> bytes:
    return Path(path).read_bytes()


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def test_warming_up_an_image_ends_at_once(container: Container) -> None:
    done = await container.ends("--no-op")
    assert (done.exit_code, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, as the node's handler does")
async def test_the_disk_is_reachable_through_the_process_behind_the_socket(
    container: Container,
) -> None:
    async with container.runs():
        assert content(f"/proc/{container.peer()}/root/disk/demo.img") == b"the disk"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_told_to_end_it_ends_at_once_although_it_is_process_one(
    container: Container, number: signal.Signals
) -> None:
    async with container.runs() as process:
        pid = container.peer()
        assert pid is not None
        os.kill(pid, number)
        async with asyncio.timeout(60):
            assert await process.wait() == 0
    assert not container.socket.exists()


async def test_a_container_that_was_killed_can_start_again(container: Container) -> None:
    async with container.runs() as process:
        pid = container.peer()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await process.wait()
    assert container.socket.exists(), "nobody could clean up"
    assert container.peer() is None
    async with container.runs():
        assert container.peer() != pid


async def test_callers_without_number_cost_nothing(container: Container) -> None:
    async with container.runs():
        pid = container.peer()
        assert pid is not None
        before = descriptors(pid)
        for _ in range(500):
            assert container.peer() == pid
        await asyncio.to_thread(container.peer)
        async with asyncio.timeout(60):
            while descriptors(pid) > before:  # noqa: ASYNC110  # the last caller is let go a little later
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        ([], 2, "the path is missing"),
        (["--copy-path"], 2, "an option is unknown or lacks its value"),
        (["--copy-path", ""], 2, "the path is missing"),
        (["--copy-path", "/shared/" + "x" * 95], 2, "the path is too long"),
        (["--loop"], 2, "an option is unknown"),
        (["--copy-path", "/shared/disk_0", "more"], 2, "an argument too many"),
        (["--copy-path", "/none/disk_0"], 1, "cannot listen on /none/disk_0.sock: No such file"),
        (["--copy-path", "/disk/disk_0"], 1, "cannot listen on /disk/disk_0.sock: Read-only"),
    ],
)
async def test_what_cannot_be_done_is_told_in_one_sentence(
    container: Container, args: list[str], code: int, said: str
) -> None:
    done = await container.ends(*args)
    assert done.exit_code == code
    assert done.stderr.startswith(b"container-disk: ")
    assert said in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_it_is_small_and_always_the_same(helper: Path, tmp_path: Path) -> None:
    assert len((SOURCE / "container-disk.c").read_text().splitlines()) < 150
    assert helper.stat().st_size < 1 << 20
    assert built(tmp_path / "again").read_bytes() == helper.read_bytes()
