"""A file of another container, shown in a folder of ours: mounted from its mount namespace into this one.

    with open_in(pid, "disk/image.qcow2") as file:
        show(file, target)

The kernel binds nothing across mount namespaces by path. So a thread enters the other namespace, takes a copy
of the mount that the file is on, narrowed to the file, and the copy is put in place here. The thread ends with
its work: no thread of ours is ever seen in a namespace that is not its own.
"""

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

from kubevirt.base.files import Root

T = TypeVar("T")

_CLONE_FS: Final = 0x200
_CLONE_NEWNS: Final = 0x20000
_OPEN_TREE: Final = 428  # the same numbers on every architecture that Linux added since 2019
_MOVE_MOUNT: Final = 429
_MOUNT_SETATTR: Final = 442
_TREE_CLONE: Final = 1
_TREE_CLOEXEC: Final = os.O_CLOEXEC
_EMPTY_PATH: Final = 0x1000
_FROM_EMPTY: Final = 0x04
_TO_EMPTY: Final = 0x40
_READ_ONLY: Final = 0x1 | 0x2 | 0x4 | 0x8
"""And nothing in it is a device, a program, or anybody else's right."""

_libc: Final = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    """`struct mount_attr` of linux/mount.h."""

    _fields_ = (
        ("set", ctypes.c_uint64),
        ("clear", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("user_namespace", ctypes.c_uint64),
    )


def borrow(pid: int, find: Callable[[Root], str]) -> int:
    """A detached, read-only mount of one file in the root of a process; the descriptor is the caller's.

    `find` names the file below that root, which is somebody else's: links are not followed.
    """
    namespace = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        root = os.open(f"/proc/{pid}/root", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        with Root(root, f"the root of process {pid}") as inside:
            return _in_a_thread(lambda: _borrowed(namespace, inside, find))
    finally:
        os.close(namespace)


def _borrowed(namespace: int, inside: Root, find: Callable[[Root], str]) -> int:
    with inside.open_file(find(inside)) as file:
        _checked(_libc.unshare(_CLONE_FS), "leaving the others' working directory")
        _checked(_libc.setns(namespace, _CLONE_NEWNS), "entering a container")
        tree = _checked(
            _libc.syscall(
                _OPEN_TREE, file.fileno(), b"", _TREE_CLONE | _TREE_CLOEXEC | _EMPTY_PATH
            ),
            "copying a mount",
        )
    attributes = _Attributes(set=_READ_ONLY)
    try:
        _checked(
            _libc.syscall(
                _MOUNT_SETATTR,
                tree,
                b"",
                _EMPTY_PATH,
                ctypes.byref(attributes),
                ctypes.c_size_t(ctypes.sizeof(attributes)),
            ),
            "making a mount read-only",
        )
    except OSError:
        os.close(tree)
        raise
    return tree


def show(mount: int, target: int) -> None:
    """Puts a borrowed mount upon a file of ours, both by descriptor."""
    _checked(
        _libc.syscall(_MOVE_MOUNT, mount, b"", target, b"", _FROM_EMPTY | _TO_EMPTY),
        "putting a mount in place",
    )


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _in_a_thread(work: Callable[[], T]) -> T:
    future: Future[T] = Future()

    def thread() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  # carried to whoever asked
            future.set_exception(error)

    threading.Thread(target=thread, name="mount").start()
    return future.result()
