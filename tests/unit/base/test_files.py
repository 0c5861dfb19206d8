"""Whatever lies in a directory, and however fast it changes, nothing leads out of it."""

import asyncio
import contextlib
import errno
import os
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kubevirt.base import files
from kubevirt.base.errors import FileTooLarge, UnsafePath, UserError
from kubevirt.base.files import Root

SECRET = b"outside"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_bytes(SECRET)
    return folder


@pytest.fixture
def inside(tmp_path: Path, outside: Path) -> Path:
    """A directory as an attacker would furnish it."""
    folder = tmp_path / "inside"
    (folder / "sub").mkdir(parents=True)
    (folder / "file").write_bytes(b"hello")
    (folder / "sub" / "deep").write_bytes(b"deep")
    (folder / "link").symlink_to(outside / "secret")
    (folder / "inner-link").symlink_to("file")
    (folder / "folder-link").symlink_to(outside)
    (folder / "up-link").symlink_to("..")
    (folder / "magic").symlink_to("/proc/self/root/etc")
    os.mkfifo(folder / "fifo")
    return folder


@pytest.fixture
def root(inside: Path) -> Iterator[Root]:
    with Root.open(inside) as root:
        yield root


UNSAFE = [
    "link",
    "inner-link",
    "folder-link/secret",
    "folder-link",
    "up-link/outside/secret",
    "magic/passwd",
    "../outside/secret",
    "sub/../file",
    "sub/../../outside/secret",
    "..",
    "/etc/passwd",
    "",
    "zero\0byte",
    "half\ud800pair",
]


@pytest.mark.parametrize("path", UNSAFE)
def test_no_path_leads_out_or_over_a_link(root: Root, path: str) -> None:
    for attempt in (
        root.read,
        root.stat,
        root.exists,
        root.listdir,
        root.open_file,
        root.root,
        lambda path: root.chown(path, os.getuid(), os.getgid()),
        lambda path: root.chmod(path, 0o777),
    ):
        with pytest.raises(UnsafePath, match=r"inside") as caught:
            attempt(path)
        assert caught.value.reason == "UnsafePath"


@pytest.mark.parametrize(
    "path", ["folder-link/new", "up-link/new", "../new", "/new", "sub/../new", ".", "magic/new"]
)
def test_nothing_is_made_or_removed_over_a_link(root: Root, tmp_path: Path, path: str) -> None:
    for attempt in (
        root.create,
        root.mkdir,
        root.unlink,
        root.remove_tree,
        lambda path: root.write(path, b"x"),
        lambda path: root.mkdir(path, parents=True, exist_ok=True),
    ):
        with pytest.raises(UnsafePath):
            attempt(path)
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "outside" / "new").exists()


def test_a_refusal_names_the_path_and_the_reason(root: Root, inside: Path) -> None:
    with pytest.raises(UnsafePath) as caught:
        root.read("folder-link/secret")
    assert str(caught.value) == (
        f"{inside}/folder-link/secret leads over a symbolic link, which is not followed here"
    )


def test_what_is_below_the_root_is_read(root: Root) -> None:
    assert root.read("file") == b"hello"
    assert root.read(Path("sub") / "deep") == b"deep"
    assert root.read("./sub//deep") == b"deep"
    assert root.stat("file").st_size == 5
    assert stat.S_ISDIR(root.stat().st_mode)
    assert root.listdir("sub") == ["deep"]
    assert "fifo" in root.listdir()


def test_what_is_missing_is_missing(root: Root, inside: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"{inside}/sub/none"):
        root.read("sub/none")
    assert not root.exists("none")
    assert not root.exists("file/below-a-file")
    assert root.exists("sub/deep")


def test_a_root_below_a_root_keeps_to_itself(root: Root) -> None:
    with root.root("sub") as sub:
        assert sub.read("deep") == b"deep"
        with pytest.raises(UnsafePath):
            sub.read("../file")
    with pytest.raises(NotADirectoryError):
        root.root("file")


def test_the_root_itself_may_be_reached_over_a_link(inside: Path, tmp_path: Path) -> None:
    (tmp_path / "trusted").symlink_to(inside)
    with Root.open(tmp_path / "trusted") as root:
        assert root.read("file") == b"hello"


def test_a_fifo_blocks_nobody_and_a_device_is_not_opened(root: Root, inside: Path) -> None:
    began = time.monotonic()
    for name in ("fifo", "sub"):
        with pytest.raises(UnsafePath, match=f"{name} is no regular file"):
            root.read(name)
    assert time.monotonic() - began < 5


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a device node")
def test_a_device_is_not_opened(root: Root, inside: Path) -> None:
    try:
        os.mknod(inside / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this sandbox lets not even root make a device node")
    with pytest.raises(UnsafePath, match="zero is no regular file"):
        root.read("zero")


def test_a_file_beyond_the_limit_is_refused(root: Root, inside: Path) -> None:
    assert root.read("file", limit=5) == b"hello"
    with pytest.raises(FileTooLarge, match=f"{inside}/file has more than 4 bytes"):
        root.read("file", limit=4)
    with pytest.raises(FileTooLarge, match="holds more than 2 files"):
        root.listdir(limit=2)


def test_a_file_is_opened_for_what_was_asked(root: Root, inside: Path) -> None:
    with root.open_file("file", os.O_WRONLY | os.O_APPEND) as file:
        file.write(b"!")
    assert (inside / "file").read_bytes() == b"hello!"
    with root.open_file("file", os.O_RDWR | os.O_TRUNC) as file:
        file.write(b"new")
    assert (inside / "file").read_bytes() == b"new"
    with pytest.raises(ValueError, match="create"):
        root.open_file("other", os.O_WRONLY | os.O_CREAT)


def test_creating_never_takes_what_exists(root: Root, inside: Path, outside: Path) -> None:
    (inside / "dangling").symlink_to(outside / "new")
    for name in ("file", "link", "dangling", "fifo", "sub"):
        with pytest.raises((FileExistsError, UnsafePath)):
            root.create(name)
    assert not (outside / "new").exists()
    assert (outside / "secret").read_bytes() == SECRET


def test_a_mode_holds_whatever_the_umask(root: Root, inside: Path) -> None:
    before = os.umask(0o077)
    try:
        root.create("made", 0o664).close()
        root.write("written", b"", mode=0o644)
        root.mkdir("folder", 0o755)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((inside / n).stat().st_mode) for n in ("made", "written", "folder")]
    assert modes == [0o664, 0o644, 0o755]


def test_writing_replaces_a_link_and_not_what_it_points_to(
    root: Root, inside: Path, outside: Path
) -> None:
    root.write("link", b"mine")
    assert (outside / "secret").read_bytes() == SECRET
    assert not (inside / "link").is_symlink()
    assert root.read("link") == b"mine"


def test_a_failed_write_leaves_the_old_file_and_no_draft(
    root: Root, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(fd: int) -> None:
        raise OSError(errno.ENOSPC, "disk full")

    before = set(root.listdir())
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        root.write("file", b"x" * 100)
    assert root.read("file") == b"hello"
    assert set(root.listdir()) == before


def test_a_durable_write_is_synced_before_it_is_seen_and_its_name_after(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    rename = os.rename

    def fsync(fd: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")

    def renamed(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        calls.append("rename")
        rename(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "rename", renamed)
    root.write("file", b"x")
    assert calls == ["file", "rename", "folder"]
    calls.clear()
    root.write("file", b"y", durable=False)
    assert calls == ["rename"]


def test_readers_see_the_old_file_or_the_new_and_never_a_part(root: Root) -> None:
    contents = {bytes([letter]) * 100_000 for letter in b"abc"}
    root.write("busy", b"a" * 100_000, durable=False)
    stop = threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            for content in contents:
                root.write("busy", content, durable=False)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        seen = {root.read("busy") for _ in range(300)}
    finally:
        stop.set()
        writer.join()
    assert seen <= contents


def test_directories_are_made_with_those_above(root: Root, inside: Path) -> None:
    with pytest.raises(FileNotFoundError):
        root.mkdir("a/b/c")
    root.mkdir("a/b/c", parents=True)
    assert (inside / "a/b/c").is_dir()
    root.mkdir("a/b/c", exist_ok=True)
    with pytest.raises(FileExistsError):
        root.mkdir("a/b/c", parents=True)
    with pytest.raises(FileExistsError):
        root.mkdir("file", exist_ok=True)


def test_removing_a_link_leaves_what_it_points_to(root: Root, inside: Path, outside: Path) -> None:
    (inside / "sub" / "trap").symlink_to(outside)
    root.unlink("link")
    root.remove_tree("sub")
    with pytest.raises(FileNotFoundError):
        root.unlink("link")
    root.unlink("link", missing_ok=True)
    assert (outside / "secret").read_bytes() == SECRET
    assert not (inside / "sub").exists()


def test_a_tree_is_removed_however_deep_it_is(root: Root, inside: Path, outside: Path) -> None:
    folder = os.open(inside / "sub", os.O_RDONLY)
    for _ in range(3000):
        os.symlink(outside, "trap", dir_fd=folder)
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    root.remove_tree("sub")
    assert not (inside / "sub").exists()
    assert (outside / "secret").read_bytes() == SECRET


def test_a_tree_is_removed_however_full_it_is(root: Root, inside: Path) -> None:
    for number in range(2500):
        (inside / "sub" / str(number)).touch()
        (inside / "sub" / f"d{number % 3}" / str(number)).mkdir(parents=True)
    root.remove_tree("sub")
    assert not (inside / "sub").exists()


def test_links_that_stay_inside_are_followed_where_that_is_wanted(root: Root, inside: Path) -> None:
    (inside / "sub" / "back").symlink_to("../file")
    (inside / "there").symlink_to("sub")
    for path, same in (
        ("inner-link", "file"),
        ("there/back", "file"),
        ("there", "sub"),
        (".", "."),
    ):
        with root.followed(path) as fd:
            assert os.path.samestat(os.fstat(fd), (inside / same).stat())


@pytest.mark.parametrize(
    "path", ["link", "folder-link", "folder-link/secret", "up", "magic", "loop"]
)
def test_links_that_lead_out_are_never_followed(root: Root, inside: Path, path: str) -> None:
    (inside / "up").symlink_to("../outside/secret")
    (inside / "loop").symlink_to("loop")
    with pytest.raises(UnsafePath), root.followed(path):
        pass


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_is_given_away_unless_it_has_another_name(
    root: Root, inside: Path, outside: Path
) -> None:
    root.chown("file", 107, 108)
    assert ((inside / "file").stat().st_uid, (inside / "file").stat().st_gid) == (107, 108)
    os.link(outside / "secret", inside / "hard-link")
    with pytest.raises(UnsafePath, match="hard-link has 2 names, so its owner stays as it is"):
        root.chown("hard-link", 107, 107)
    assert (outside / "secret").stat().st_uid == 0
    root.chown("sub", 107, 107)
    assert (inside / "sub").stat().st_uid == 107
    root.write("owned", b"", owner=(107, 107))
    assert (inside / "owned").stat().st_uid == 107


def test_modes_change_without_opening_what_is_there(root: Root, inside: Path) -> None:
    root.chmod("fifo", 0o622)
    assert stat.S_IMODE((inside / "fifo").stat().st_mode) == 0o622


LONG = "/".join(["a" * 60] * 4)


@contextlib.contextmanager
def listening(root: Root, path: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as server:
        with root.bindable(path) as address:
            server.bind(address)
        server.listen()
        yield server


def test_a_socket_with_a_long_path_is_bound_and_reached(root: Root, inside: Path) -> None:
    root.mkdir(LONG, parents=True)
    path = f"{LONG}/launcher-sock"
    assert len(str(inside / path)) > 107
    with (
        listening(root, path),
        root.connectable(path) as address,
        socket.socket(socket.AF_UNIX) as client,
    ):
        client.connect(address)
    assert stat.S_ISSOCK((inside / path).stat().st_mode)


def test_a_link_in_the_place_of_a_socket_is_not_connected_to(
    root: Root, inside: Path, outside: Path
) -> None:
    with Root.open(outside) as other, listening(other, "cri.sock"):
        (inside / "console").symlink_to(outside / "cri.sock")
        with pytest.raises(UnsafePath, match="symbolic link"), root.connectable("console"):
            pass
    with pytest.raises(UnsafePath, match="file is no socket"), root.connectable("file"):
        pass


def test_the_address_stands_for_the_socket_that_was_found(
    root: Root, inside: Path, outside: Path
) -> None:
    with (
        Root.open(outside) as other,
        listening(other, "cri.sock") as forbidden,
        listening(root, "console") as wanted,
        root.connectable("console") as address,
    ):
        (inside / "console").rename(inside / "elsewhere")
        (inside / "console").symlink_to(outside / "cri.sock")
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)
            wanted.settimeout(5)
            wanted.accept()[0].close()
        forbidden.setblocking(False)
        with pytest.raises(BlockingIOError):
            forbidden.accept()


async def test_asyncio_connects_through_the_address(root: Root) -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello")
        writer.close()

    with root.bindable("greeter") as address:
        server = await asyncio.start_unix_server(greet, address)
    async with server:
        with root.connectable("greeter") as address:
            reader, writer = await asyncio.open_unix_connection(address)
        assert await reader.read() == b"hello"
        writer.close()
        await writer.wait_closed()


def test_no_race_leads_out(root: Root, inside: Path, outside: Path) -> None:
    """A directory is swapped for a link to outside and back, as fast as it goes."""
    (inside / "target").mkdir()
    (inside / "target" / "secret").write_bytes(b"inside")
    (inside / "trap").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (inside / "target").rename(inside / "aside")
            (inside / "trap").rename(inside / "target")
            (inside / "target").rename(inside / "trap")
            (inside / "aside").rename(inside / "target")

    attacker = threading.Thread(target=swap)
    attacker.start()
    outcomes: set[bytes] = set()
    deadline = time.monotonic() + 1.5
    try:
        while time.monotonic() < deadline:
            with contextlib.suppress(UnsafePath, FileNotFoundError):
                outcomes.add(root.read("target/secret"))
            with contextlib.suppress(UnsafePath, FileNotFoundError):
                root.write("target/dropped", b"x", durable=False)
            with contextlib.suppress(UnsafePath, FileNotFoundError):
                root.chmod("target/secret", 0o600)
    finally:
        stop.set()
        attacker.join()
    assert outcomes == {b"inside"}
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    assert stat.S_IMODE((outside / "secret").stat().st_mode) != 0o600


def test_an_old_kernel_is_told_and_nothing_is_opened_unsafely(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> int:
        raise OSError(errno.ENOSYS, "openat2")

    monkeypatch.setattr(files, "_openat2", missing)
    with pytest.raises(UserError, match=r"Linux 5\.6 or newer is needed"):
        root.read("file")


def test_a_resolution_that_never_settles_is_given_up(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsettled(*_: object) -> int:
        raise OSError(errno.EAGAIN, "openat2")

    monkeypatch.setattr(files, "_openat2", unsettled)
    with pytest.raises(UnsafePath, match="renamed again and again"):
        root.read("file")


def test_no_descriptor_is_left_open(root: Root, inside: Path) -> None:
    def opened() -> set[str]:
        return {path.name for path in Path("/proc/self/fd").iterdir()}

    before = opened()
    root.read("file")
    root.write("new", b"x")
    root.mkdir("x/y", parents=True)
    root.listdir()
    for path in UNSAFE:
        with contextlib.suppress(UnsafePath):
            root.read(path)
    with root.root("sub"):
        pass
    assert opened() == before


def test_a_closed_root_opens_nothing(inside: Path) -> None:
    root = Root.open(inside)
    root.close()
    root.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        root.read("file")
    assert repr(root) == f"Root('{inside}')"
