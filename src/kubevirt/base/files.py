"""Files below a root: what somebody else wrote into a directory cannot lead out of it.

    with Root.open("/var/lib/kubevirt/launchers/1234") as root:
        token = root.read("token", limit=4096)
        root.write("state/domain.json", data)
        with root.connectable("sockets/cmd.sock") as address: ...

A privileged program that opens a path in a guest's, a launcher's or a user's directory must expect
symbolic links, `..`, FIFOs that block whoever opens them, device nodes, and all of these swapped in
between a check and its use. So a path is never checked and then used: the kernel resolves it once
(openat2, which follows no link and stays below the root) to a file descriptor, and everything else
(type, size, owner, mode) is asked of and done to that descriptor.

The root itself is trusted and opened as it is. Paths below it are relative, with `/` between names.
Calls are short and synchronous; what may be large belongs in a thread.
"""

import ctypes
import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from kubevirt.base.errors import FileTooLarge, UnsafePath, UserError
from kubevirt.base.removal import remove_tree

AnyPath = str | os.PathLike[str]

READ_LIMIT: Final = 1 << 20
LIST_LIMIT: Final = 10_000

_SYS_OPENAT2: Final = 437  # the same number on every architecture that Linux added since 2019
_RESOLVE_NO_MAGICLINKS: Final = 0x02
_RESOLVE_NO_SYMLINKS: Final = 0x04
_RESOLVE_BENEATH: Final = 0x08
_WITH_LINKS: Final = _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS
_WITHOUT_LINKS: Final = _WITH_LINKS | _RESOLVE_NO_SYMLINKS
_RACES: Final = 128
"""How often a rename in the middle of a resolution (EAGAIN) is tried again: more is an attack."""


class _OpenHow(ctypes.Structure):
    """What openat2 takes: `struct open_how` of linux/openat2.h."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


class Root:
    """An open directory, and the only way to what lies below it."""

    def __init__(self, fd: int, name: str) -> None:
        """Takes over `fd`; `name` is for messages."""
        self._fd = fd
        self._name = name

    @classmethod
    def open(cls, path: AnyPath) -> Self:
        """`path` is trusted: links on the way to it are followed."""
        name = os.fspath(path)
        return cls(os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), name)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Root({self._name!r})"

    def root(self, path: AnyPath) -> "Root":
        """The directory at `path` as a root of its own."""
        return Root(self._resolve(path, os.O_RDONLY | os.O_DIRECTORY), self._shown(path))

    def stat(self, path: AnyPath = ".") -> os.stat_result:
        with self._pinned(path) as fd:
            return os.fstat(fd)

    def exists(self, path: AnyPath) -> bool:
        try:
            self.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def listdir(self, path: AnyPath = ".", *, limit: int = LIST_LIMIT) -> list[str]:
        """The names in a directory, sorted."""
        fd = self._resolve(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(fd) as entries:
                names = [entry.name for entry in islice(entries, limit + 1)]
        finally:
            os.close(fd)
        if len(names) > limit:
            raise FileTooLarge(f"{self._shown(path)} holds more than {limit} files")
        return sorted(names)

    def open_file(self, path: AnyPath, flags: int = os.O_RDONLY) -> io.FileIO:
        """An existing regular file, unbuffered. Its type is known before it is opened for real."""
        if flags & os.O_CREAT:
            raise ValueError("a new file is made by create() or write()")
        with self._pinned(path) as fd:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise UnsafePath(f"{self._shown(path)} is no regular file")
            return _file(os.open(_again(fd), flags | os.O_CLOEXEC), flags)

    def create(self, path: AnyPath, mode: int = 0o600) -> io.FileIO:
        """A new file, open for reading and writing; FileExistsError if there is anything by that name."""
        with self._parent(path) as (folder, name):
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
            fd = self._openat2(folder, name, flags, mode, shown=path)
            os.fchmod(fd, mode)  # the umask is not ours to think of
            return _file(fd, flags)

    def read(self, path: AnyPath, *, limit: int = READ_LIMIT) -> bytes:
        with self.open_file(path) as file:
            data = bytearray()
            while chunk := file.read(limit + 1 - len(data)):
                data += chunk
        if len(data) > limit:
            raise FileTooLarge(f"{self._shown(path)} has more than {limit} bytes")
        return bytes(data)

    def write(
        self,
        path: AnyPath,
        data: bytes,
        *,
        mode: int = 0o600,
        owner: tuple[int, int] | None = None,
        durable: bool = True,
    ) -> None:
        """Puts a file in place at once: readers see the old content or the new, never a part.

        `durable` makes it survive a power loss. Whatever had the name, a link too, is replaced.
        """
        with self._parent(path) as (folder, name):
            draft = f".{os.urandom(8).hex()}.tmp"
            try:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                fd = self._openat2(folder, draft, flags, mode, shown=path)
                with _file(fd, flags) as file:
                    _write_all(file, data)
                    os.fchmod(fd, mode)
                    if owner is not None:
                        os.fchown(fd, *owner)
                    if durable:
                        os.fsync(fd)
                os.rename(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(draft, dir_fd=folder)
                raise
            if durable:
                os.fsync(folder)

    def mkdir(
        self, path: AnyPath, mode: int = 0o700, *, parents: bool = False, exist_ok: bool = False
    ) -> None:
        """A directory; with `parents` also those above it, of the same mode."""
        names = self._names(path)
        for depth in range(1 if parents else len(names), len(names) + 1):
            above = depth < len(names)
            self._mkdir("/".join(names[:depth]), mode, exist_ok=exist_ok or above)

    def unlink(self, path: AnyPath, *, missing_ok: bool = False) -> None:
        """Removes a name; a link goes, what it points to stays."""
        try:
            with self._parent(path) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except FileNotFoundError:
            if not missing_ok:
                raise

    def remove_tree(self, path: AnyPath) -> None:
        """Removes a directory with all it holds, following no link on the way."""
        with self._parent(path) as (folder, name):
            remove_tree(folder, name)

    def chown(self, path: AnyPath, uid: int, gid: int) -> None:
        """Gives away exactly what is at `path` now.

        A file with several names is refused: one of the others may lie where its owner matters.
        """
        with self._pinned(path) as fd:
            found = os.fstat(fd)
            if found.st_nlink > 1 and not stat.S_ISDIR(found.st_mode):
                raise UnsafePath(
                    f"{self._shown(path)} has {found.st_nlink} names, so its owner stays as it is"
                )
            os.chown(_again(fd), uid, gid)

    def chmod(self, path: AnyPath, mode: int) -> None:
        with self._pinned(path) as fd:
            Path(_again(fd)).chmod(mode)

    @contextmanager
    def followed(self, path: AnyPath) -> Iterator[int]:
        """A descriptor of whatever is at `path`, opened without touching it. Links on the way are
        followed, also the last one, as long as they lead to something below the root.
        """
        names = self._names(path, may_be_root=True)
        fd = self._openat2(
            self._fd, "/".join(names) or ".", os.O_PATH, resolve=_WITH_LINKS, shown=path
        )
        try:
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def connectable(self, path: AnyPath) -> Iterator[str]:
        """The address of a unix socket, good as long as the context lasts, of any path length.

        It stands for the very socket that was found: swapping the name for a link changes nothing.
        """
        with self._pinned(path) as fd:
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                raise UnsafePath(f"{self._shown(path)} is no socket")
            yield _again(fd)

    @contextmanager
    def bindable(self, path: AnyPath) -> Iterator[str]:
        """The address under which to bind a new unix socket, of any path length.

        The name must be free; a unix address of its own holds 107 characters only.
        """
        with self._parent(path) as (folder, name):
            yield f"{_again(folder)}/{name}"

    @contextmanager
    def _pinned(self, path: AnyPath) -> Iterator[int]:
        """A descriptor of whatever is at `path`, opened without touching it: no FIFO blocks."""
        fd = self._resolve(path, os.O_PATH)
        try:
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _parent(self, path: AnyPath) -> Iterator[tuple[int, str]]:
        """The directory that holds `path`, and the name in it."""
        *above, name = self._names(path)
        folder = self._resolve("/".join(above) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            yield folder, name
        finally:
            os.close(folder)

    def _mkdir(self, path: str, mode: int, *, exist_ok: bool) -> None:
        with self._parent(path) as (folder, name):
            try:
                os.mkdir(name, mode, dir_fd=folder)
            except FileExistsError:
                if not exist_ok or not stat.S_ISDIR(self.stat(path).st_mode):
                    raise
                return
            fd = self._openat2(folder, name, os.O_RDONLY | os.O_DIRECTORY, shown=path)
            try:
                os.fchmod(fd, mode)
            finally:
                os.close(fd)

    def _resolve(self, path: AnyPath, flags: int) -> int:
        names = self._names(path, may_be_root=True)
        return self._openat2(self._fd, "/".join(names) or ".", flags, shown=path)

    def _names(self, path: AnyPath, *, may_be_root: bool = False) -> list[str]:
        """The names of a path that says nothing but where to go down."""
        text = os.fspath(path)
        names = text.split("/")
        if not text or text.startswith("/") or ".." in names or not _is_encodable(text):
            raise UnsafePath(
                f"{text!r} is no path below {self._name}; give a relative one without '..'"
            )
        names = [name for name in names if name not in ("", ".")]
        if not names and not may_be_root:
            raise UnsafePath(f"{self._shown(path)} is the root itself")
        return names

    def _openat2(
        self,
        folder: int,
        path: str,
        flags: int,
        mode: int = 0,
        *,
        shown: AnyPath,
        resolve: int = _WITHOUT_LINKS,
    ) -> int:
        for _ in range(_RACES):
            try:
                return _openat2(folder, path, flags | os.O_CLOEXEC, mode, resolve)
            except OSError as error:
                if error.errno != errno.EAGAIN:
                    raise _explained(error, self._shown(shown)) from None
        raise UnsafePath(f"{self._shown(shown)} is renamed again and again while it is opened")

    def _shown(self, path: AnyPath) -> str:
        return f"{self._name}/{os.fspath(path)}"


def _is_encodable(text: str) -> bool:
    """JSON can spell what no file name can hold: a zero byte, half of a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _explained(error: OSError, shown: str) -> Exception:
    match error.errno:
        case errno.ELOOP:
            return UnsafePath(f"{shown} leads over a symbolic link, which is not followed here")
        case errno.EXDEV:
            return UnsafePath(f"{shown} leads out of its root")
        case errno.ENOSYS | errno.EPERM if not _kernel_has_openat2():
            return UserError(
                "this kernel, or the sandbox around us, has no openat2, without which the files of"
                " others cannot be opened safely; Linux 5.6 or newer is needed",
                reason="KernelTooOld",
            )
        case number:
            return OSError(number, os.strerror(number or 0), shown)


def _openat2(folder: int, path: str, flags: int, mode: int, resolve: int = _WITHOUT_LINKS) -> int:
    how = _OpenHow(flags, mode, resolve)
    fd: int = _libc.syscall(
        _SYS_OPENAT2,
        ctypes.c_int(folder),
        ctypes.c_char_p(os.fsencode(path)),
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    if fd < 0:
        raise OSError(ctypes.get_errno(), "openat2")
    return fd


_libc: Final = ctypes.CDLL(None, use_errno=True)


def _kernel_has_openat2() -> bool:
    try:
        os.close(_openat2(-100, ".", os.O_PATH | os.O_CLOEXEC, 0))  # -100 is AT_FDCWD
    except OSError as error:
        return error.errno not in (errno.ENOSYS, errno.EPERM)
    return True


def _again(fd: int) -> str:
    """A path to what a descriptor holds: the kernel's own link, which cannot be swapped."""
    return f"/proc/self/fd/{fd}"


def _file(fd: int, flags: int) -> io.FileIO:
    mode = {os.O_RDONLY: "rb", os.O_WRONLY: "wb", os.O_RDWR: "rb+"}[flags & os.O_ACCMODE]
    return io.FileIO(fd, mode)


def _write_all(file: io.FileIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
