"""The preparer: a process that makes what a guest needs before it starts, and is gone once the guest runs.

Conversion, ISO images and all that they import take six megabytes, which every guest would keep for life. So the
manager forks before it imports anything large itself: both then import side by side, which also saves time, and
when the guest runs the preparer ends and gives everything back. A manager that finds a guest has none.

    manager  ──  Order(instance, options, offers)  ──►  preparer
             ◄──  Prepared(xml, notes, made)  or  Refused(message, reason)  ──

Messages are length and msgpack over a socket pair. A preparer that dies takes the manager along, which is started
again and has another one.
"""

import asyncio
import os
import signal
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from kubevirt.base.errors import Retry, UserError
from kubevirt.base.log import get_logger
from kubevirt.components.launcher.settings import Settings

if TYPE_CHECKING:
    from kubevirt.components.launcher.preparation import Preparation

log = get_logger(__name__)

_LENGTH: Final = struct.Struct("!I")


class Offers(msgspec.Struct, frozen=True, kw_only=True):
    """What this node's QEMU offers; empty means not known."""

    machine_types: tuple[str, ...] = ()
    cpu_models: tuple[str, ...] = ()


class Order(msgspec.Struct, frozen=True, kw_only=True):
    instance: bytes
    """A VMI as JSON."""
    options: bytes | None = None
    """What the handler says of node and cluster, as it came over the wire."""
    offers: Offers = Offers()


class Note(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    message: str


class Prepared(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """All is in place."""

    xml: str
    """The domain, for libvirt."""
    notes: tuple[Note, ...] = ()
    made: tuple[str, ...] = ()
    """Files that were not there before."""

    def undo(self) -> None:
        """Of a domain that was not started."""
        for path in self.made:
            Path(path).unlink(missing_ok=True)


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Nothing was left in place."""

    message: str
    reason: str | None = None
    """None: it may go better another time."""


_Answer = Prepared | Refused


class PreparerDied(Exception):  # noqa: N818  # it is what happened; nobody but the monitor can mend it
    """The manager ends with it and is started again, with another preparer."""


class Preparer:
    """The manager's end of the line."""

    def __init__(self, line: socket.socket, pid: int) -> None:
        self._socket = line
        self._pid = pid
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def prepare(self, order: Order) -> Prepared:
        """Raises a `UserError` for what cannot become a guest."""
        if self._streams is None:
            self._streams = await asyncio.open_unix_connection(sock=self._socket)
        reader, writer = self._streams
        writer.write(_framed(order))
        try:
            (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
            answer = msgspec.msgpack.decode(await reader.readexactly(length), type=_Answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise PreparerDied("the process that prepares the guest has died") from None
        if isinstance(answer, Prepared):
            return answer
        if answer.reason is None:
            raise Retry(answer.message)
        raise UserError(answer.message, reason=answer.reason)

    def dismiss(self) -> None:
        """The guest runs. The other end waits for orders, so it has nothing to save."""
        if self._streams is not None:
            self._streams[1].close()
        self._socket.close()
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def fork(settings: Settings) -> Preparer:
    """To be called while the process has one thread and few modules."""
    ours, theirs = socket.socketpair()
    if pid := os.fork():
        theirs.close()
        ours.setblocking(False)
        return Preparer(ours, pid)
    ours.close()
    try:
        serve(settings, theirs)
    finally:
        os._exit(0)  # what the parent has registered for its own end is not ours to run


def serve(settings: Settings, line: socket.socket) -> None:
    """The other process: carries out orders until the line is closed."""
    from kubevirt.components.launcher.preparation import Preparation  # noqa: PLC0415
    from kubevirt.host import iso  # noqa: PLC0415

    preparation = Preparation(settings)
    iso.get_ready()  # most guests have one, and nobody waits yet
    with line, line.makefile("rwb") as stream:
        while head := stream.read(_LENGTH.size):
            (length,) = _LENGTH.unpack(head)
            order = msgspec.msgpack.decode(stream.read(length), type=Order)
            stream.write(_framed(asyncio.run(_answer(preparation, order))))
            stream.flush()


async def _answer(preparation: "Preparation", order: Order) -> _Answer:
    try:
        return await preparation.prepare(order)
    except UserError as error:
        return Refused(message=str(error), reason=error.reason)
    except Exception as error:
        log.exception("a guest cannot be prepared")
        return Refused(message=str(error) or type(error).__name__)


def _framed(message: msgspec.Struct) -> bytes:
    data = msgspec.msgpack.encode(message)
    return _LENGTH.pack(len(data)) + data
