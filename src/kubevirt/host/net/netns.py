"""Network namespaces: made, opened, entered by one thread at a time, removed.

    with Namespace.of_process(pid) as namespace:
        addresses = await namespace.run(read_addresses)

A namespace belongs to a thread, and Python 3.11 has no call to enter one. So each piece of work gets
a thread of its own, which enters, works and ends: no thread of ours is ever seen in a namespace that
is not its own, whatever the work does. pyroute2 would fork the whole process for each socket in
another namespace, with all our threads' locks as they happen to be; a thread costs a tenth of that
and also reaches what is no socket: sysctls, tap devices, programs to be started.

In that thread `/proc/sys/net` and new sockets are the namespace's own. `/proc/net` is not: it follows
the process. Use `/proc/thread-self/net`.
"""

import asyncio
import ctypes
import errno
import fcntl
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeVar

from kubevirt.host.net.errors import NamespaceGone, NetworkFailed, refused

T = TypeVar("T")

CLONE_NEWNET: Final = 0x40000000
_NS_GET_NSTYPE: Final = 0xB703
_MS_BIND: Final = 4096
_MNT_DETACH: Final = 2
_OWN: Final = "/proc/thread-self/ns/net"

_libc: Final = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """An open network namespace. It lives as long as someone holds it open, or has it by a name."""

    def __init__(self, fd: int, name: str) -> None:
        """Takes over `fd`; `name` is for messages."""
        self._fd = fd
        self.name = name

    @classmethod
    def at(cls, path: str | os.PathLike[str]) -> Self:
        """By a path on which it is bound, as `keep` and `ip netns` leave it. The path is trusted."""
        return cls._opened(os.fspath(path), f"network namespace {os.fspath(path)}")

    @classmethod
    def of_process(cls, pid: int) -> Self:
        """The one that a process is in now."""
        return cls._opened(f"/proc/{pid}/ns/net", f"network namespace of process {pid}")

    @classmethod
    def of_descriptor(cls, fd: int) -> Self:
        """By an open descriptor, which stays the caller's."""
        return cls(_checked(os.dup(fd), f"descriptor {fd}"), f"network namespace {fd}")

    @classmethod
    def current(cls) -> Self:
        """The calling thread's own."""
        return cls._opened(_OWN, "our own network namespace")

    @classmethod
    def new(cls, name: str = "a new network namespace") -> Self:
        """One with nothing in it but a loopback that is down.

        It has no name in the file system: when its last holder ends, by whatever signal, the kernel
        takes it away with all its links.
        """
        return cls(_in_a_thread(_unshare).result(), name)

    @classmethod
    def _opened(cls, path: str, name: str) -> Self:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except (FileNotFoundError, ProcessLookupError):
            raise NamespaceGone(f"there is no {name}; its pod may have ended") from None
        except OSError as error:
            raise refused(f"opening the {name}", error.errno) from None
        return cls(_checked(fd, name), name)

    def __repr__(self) -> str:
        return f"Namespace({self.name!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def fd(self) -> int:
        return self._fd

    @property
    def identity(self) -> tuple[int, int]:
        """The same for two handles of one namespace."""
        found = os.fstat(self._fd)
        return found.st_dev, found.st_ino

    @property
    def path(self) -> str:
        """Opens it from within this process, or a child that was given `fd`."""
        return f"/proc/self/fd/{self._fd}"

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def keep(self, path: Path) -> None:
        """Gives it a name that outlives us; `remove` takes the name away again."""
        path.touch(mode=0o600, exist_ok=False)
        bound = _libc.mount(
            os.fsencode(self.path), os.fsencode(path), b"none", ctypes.c_ulong(_MS_BIND), None
        )
        if bound != 0:
            number = ctypes.get_errno()
            path.unlink()
            raise refused(f"binding the {self.name} to {path}", number)

    async def run(self, work: Callable[[], T]) -> T:
        """Calls `work` in the namespace, in a thread of its own.

        What has begun is finished: a cancelled caller is let go when the thread has ended. So the
        work itself must have an end, and keep its own limits.
        """
        result = asyncio.wrap_future(self._start(work))
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            if not result.done():
                await asyncio.wait([result])
            if not result.cancelled():
                result.exception()  # looked at: the caller's cancellation is what counts
            raise

    def call(self, work: Callable[[], T]) -> T:
        """The same for callers without a loop."""
        return self._start(work).result()

    def _start(self, work: Callable[[], T]) -> "Future[T]":
        def inside() -> T:
            self._enter()
            return work()

        return _in_a_thread(inside)

    def _enter(self) -> None:
        if _libc.setns(self._fd, CLONE_NEWNET) != 0:
            raise refused(f"entering the {self.name}", ctypes.get_errno())


def remove(path: Path) -> None:
    """Takes the name of a namespace away; what runs in it goes on. Gone already is no error."""
    if _libc.umount2(os.fsencode(path), _MNT_DETACH) != 0:
        number = ctypes.get_errno()
        if number not in (errno.ENOENT, errno.EINVAL):  # EINVAL: nothing is bound there
            raise refused(f"removing the network namespace {path}", number)
    with suppress(FileNotFoundError):
        path.unlink()


def _in_a_thread(work: Callable[[], T]) -> "Future[T]":
    """Starts a thread that does this one thing. It is no daemon: at our end it is waited for."""
    future: Future[T] = Future()

    def thread() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  # carried to whoever asked
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=thread, name="netns").start()
    return future


def _unshare() -> int:
    if _libc.unshare(CLONE_NEWNET) != 0:
        raise refused("making a network namespace", ctypes.get_errno())
    return os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)


def _checked(fd: int, name: str) -> int:
    """The descriptor, if it is a network namespace: nobody can hand us something else to enter."""
    try:
        kind = fcntl.ioctl(fd, _NS_GET_NSTYPE)
    except OSError:
        kind = 0
    if kind == CLONE_NEWNET:
        return fd
    os.close(fd)
    raise NetworkFailed(f"the {name} is no network namespace")
