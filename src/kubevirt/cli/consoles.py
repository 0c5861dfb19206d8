"""A person, or a program, at the serial console of a guest.

Every key goes to the guest but one: Ctrl+] ends the console. The terminal is put back however that happens:
by the key, by the guest, by the server, by a signal.
"""

import asyncio
import signal
import sys
from typing import Final

import aiohttp

from kubevirt.api.scheme import VIRTUAL_MACHINE_INSTANCES
from kubevirt.base.errors import UserError
from kubevirt.base.tasks import background
from kubevirt.cli import subresources, waiting
from kubevirt.cli.asking import Session
from kubevirt.cli.streams import terminal
from kubevirt.cli.streams.relay import Ended, relay
from kubevirt.cli.streams.stdio import Input, Output
from kubevirt.cli.targets import Target
from kubevirt.cli.waiting import Object
from kubevirt.kube.errors import Forbidden

ESCAPE: Final = b"\x1d"
SILENCE_S: Final = 5.0
QUIET_S: Final = 1.0
"""After the end of a pipe: what was written last is still answered."""

_BACK: Final = "\r"
"""A raw terminal does not go back to the left by itself."""
_COMING: Final = ("", "Pending", "Scheduling", "Scheduled", "WaitingForSync")


async def attach(target: Target, session: Session, *, timeout_s: float, is_waiting: bool) -> None:
    target = target.in_namespace(session.namespace)
    await _running(target, session, timeout_s, is_waiting=is_waiting)
    async with subresources.connected(session, target, "console") as connection:
        _tell(
            f"Successfully connected to {target.name} console."
            " Press Ctrl+] or Ctrl+5 to exit console."
        )
        with terminal.raw(sys.stdin.fileno()):
            ended = await _talk(target, connection)
    if ended is Ended.THEIRS:
        _tell(
            f"\nThe console of {target.name} is closed: its guest has stopped, or somebody else has opened it."
        )


async def _running(target: Target, session: Session, timeout_s: float, *, is_waiting: bool) -> None:
    """A guest that is about to run is waited for, as upstream does; others only if that is wanted."""

    def wanted(vmi: Object | None) -> bool:
        if is_waiting:
            return waiting.phase(vmi) == "Running"
        return vmi is None or waiting.phase(vmi) not in _COMING

    try:
        found = await waiting.until(
            session,
            VIRTUAL_MACHINE_INSTANCES,
            target.name,
            target.namespace,
            wanted,
            what="Running",
            timeout_s=timeout_s,
        )
    except Forbidden:
        if is_waiting:
            raise
        return  # who may open consoles need not be able to look at guests
    if found is None:
        raise UserError(
            f'virtualmachineinstances.kubevirt.io "{target.name}" not found: start it with:'
            f" virtctl start {target.name}",
            reason="NotFound",
        )


async def _talk(target: Target, connection: aiohttp.ClientWebSocketResponse) -> Ended:
    keys = _Keys(Input(sys.stdin.fileno()))
    shown = _Shown(Output(sys.stdout.fileno()))
    try:
        async with background(_hint(target, shown), _until_signalled()):
            return await relay(connection, keys.read, shown.write, linger_s=QUIET_S)
    except _Escaped:
        return Ended.OURS


class _Escaped(Exception):  # noqa: N818  # it is what a person wanted
    pass


class _Keys:
    def __init__(self, source: Input) -> None:
        self._source = source
        self._has_escaped = False

    async def read(self) -> bytes:
        data = b"" if self._has_escaped else await self._source.read()
        before, found, _ = data.partition(ESCAPE)
        if self._has_escaped or (found and not before):
            raise _Escaped
        self._has_escaped = bool(found)
        return before


class _Shown:
    def __init__(self, sink: Output) -> None:
        self.anything = asyncio.Event()
        self._sink = sink

    async def write(self, data: bytes) -> None:
        self.anything.set()
        await self._sink.write(data)


async def _hint(target: Target, shown: _Shown) -> None:
    """A guest without a login on its serial port looks like a console that does not work."""
    try:
        async with asyncio.timeout(SILENCE_S):
            await shown.anything.wait()
    except TimeoutError:
        _tell(
            f"no output for {SILENCE_S:g} s: the guest may have no serial getty; press Enter or try:"
            f" virtctl vnc {target.name}{_BACK if sys.stdin.isatty() else ''}"
        )


async def _until_signalled() -> None:
    """A signal ends the console as an error does, so that the terminal is put back. A raw terminal's
    Ctrl+C is none: it is the guest's.
    """
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    numbers = (signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, came.set)
    try:
        await came.wait()
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
    raise UserError("the console was ended by a signal", reason="Interrupted")


def _tell(text: str) -> None:
    """Beside what the guest says, which has standard output."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
