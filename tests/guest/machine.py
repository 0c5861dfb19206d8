"""A QEMU for tests: started, watched on its serial line, and always ended.

    async with Machine.start(folder, disk, memory="64M") as machine:
        await machine.login()
        assert await machine.run("hostname") == "cirros"

Every wait has a limit, and one that is reached shows what the guest had said until then. QEMU runs in
emulation only: a `/dev/kvm` that hangs guests is no reason for a test to hang.
"""

import asyncio
import contextlib
import json
import os
import re
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Self

from kubevirt.base.tasks import first_of

BOOT_LIMIT_S = 150.0
"""A busy machine may take its time; how long a boot takes on an idle one is measured elsewhere."""
ANSWER_LIMIT_S = 90.0
_END = "@end-of-answer@"


class Line:
    """A byte stream of the guest's, read as it comes and kept whole."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.heard = ""
        self._seen = 0

    async def expect(self, pattern: str, limit_s: float = ANSWER_LIMIT_S) -> re.Match[str]:
        """Wait until `pattern` comes after what was matched last."""
        try:
            async with asyncio.timeout(limit_s):
                while not (match := re.compile(pattern).search(self.heard, self._seen)):
                    piece = await self._read()
                    if not piece:
                        raise AssertionError(self._complaint(f"ended before {pattern!r} came"))
                    self.heard += piece.decode(errors="replace").replace("\r", "")
        except TimeoutError:
            raise AssertionError(self._complaint(f"{pattern!r} not within {limit_s} s")) from None
        self._seen = match.end()
        return match

    async def _read(self) -> bytes:
        with contextlib.suppress(ConnectionResetError):
            return await self._reader.read(65536)
        return b""

    async def send(self, text: str) -> None:
        self._writer.write(text.encode())
        await self._writer.drain()

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    def _complaint(self, what: str) -> str:
        return f"the guest's line: {what}; it said:\n{self.heard[-3000:]}"


class Machine:
    """A running QEMU with one guest."""

    def __init__(
        self, process: asyncio.subprocess.Process, serial: Line, monitor: Line, began: float
    ) -> None:
        self._process = process
        self.serial = serial
        self._monitor = monitor
        self._began = began

    @classmethod
    @contextlib.asynccontextmanager
    async def start(
        cls,
        folder: Path,
        *disks: str,
        memory: str = "64M",
        machine: str = "q35",
        processors: str = "1",
        more: Sequence[str] = (),
    ) -> AsyncIterator[Self]:
        """Start QEMU with these `-device` and `-drive` words, and end it however the body ends. A second
        processor costs the machine under emulation a fifth more.
        """
        async with _listening(folder / "serial") as serial, _listening(folder / "qmp") as monitor:
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                *("qemu-system-x86_64", "-accel", "tcg", "-machine", machine, "-m", memory),
                *("-smp", processors, "-nodefaults", "-no-user-config", "-display", "none"),
                *("-chardev", f"socket,id=serial,path={folder / 'serial'}"),
                *("-serial", "chardev:serial"),
                *("-chardev", f"socket,id=qmp,path={folder / 'qmp'}", "-mon", "qmp,mode=control"),
                *disks,
                *more,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                lines = await _connected(process, serial, monitor)
                running = cls(process, *lines, began)
                await running._greet()
                try:
                    yield running
                finally:
                    for line in lines:
                        await line.close()
            finally:
                await _end(process)

    async def login(self, user: str = "cirros", password: str | None = "gocubsgo") -> None:
        """Wait for the prompt and log in on the serial line."""
        await self.serial.expect(r"login: ", BOOT_LIMIT_S)
        await self.serial.send(f"{user}\n")
        if password is not None:
            await self.serial.expect("Password: ")
            await self.serial.send(f"{password}\n")
        await self.serial.expect(r"\n[^\n]*[$#] ")
        # No echo and no prompt: what follows a command is its answer and nothing else.
        await self.serial.send(f"stty -echo; PS1= PS2=; echo {_END[:4]}''{_END[4:]}\n")
        await self.serial.expect(f"{_END}\n")

    async def booted_after(self) -> float:
        """Seconds from QEMU's start to the login prompt."""
        await self.serial.expect(r"login: ", BOOT_LIMIT_S)
        return time.monotonic() - self._began

    async def run(self, command: str, limit_s: float = ANSWER_LIMIT_S) -> str:
        """The output of a command; one that fails fails the test."""
        output, code = await self.attempt(command, limit_s)
        assert code == 0, f"`{command}` ended with {code}: {output}"
        return output

    async def attempt(self, command: str, limit_s: float = ANSWER_LIMIT_S) -> tuple[str, int]:
        begin = self.serial._seen
        await self.serial.send(f'{{ {command}\n}} 2>&1; echo "{_END}$?"\n')
        match = await self.serial.expect(rf"{_END}(\d+)\n", limit_s)
        return self.serial.heard[begin : match.start()].strip(), int(match[1])

    async def until(self, command: str, limit_s: float = ANSWER_LIMIT_S) -> None:
        """Repeat a command in the guest until it succeeds."""
        tenths = int(limit_s * 10)
        await self.run(
            f"n=0; until {command}; do n=$((n+1)); [ $n -lt {tenths} ] || break; usleep 100000; done;"
            f" [ $n -lt {tenths} ]",
            limit_s * 2,
        )

    async def command(self, name: str, **arguments: Any) -> Any:
        """Ask QEMU's monitor."""
        await self._monitor.send(json.dumps({"execute": name, "arguments": arguments}) + "\n")
        answer = await self._monitor.expect(r'\{"(return|error)":.*\}\n')
        content = json.loads(answer[0])
        assert "return" in content, content
        return content["return"]

    async def type(self, text: str) -> None:
        """Press the keys of small letters and Enter on the machine's keyboard."""
        for letter in text:
            key = {"type": "qcode", "data": "ret" if letter == "\n" else letter}
            await self.command("send-key", keys=[key], **{"hold-time": 10})

    async def event(self, name: str, limit_s: float = ANSWER_LIMIT_S) -> None:
        await self._monitor.expect(rf'"event": "{name}"', limit_s)

    async def ended(self, limit_s: float = ANSWER_LIMIT_S) -> int:
        """Wait until QEMU is gone by itself."""
        async with asyncio.timeout(limit_s):
            return await self._process.wait()

    async def _greet(self) -> None:
        await self._monitor.expect(r'"QMP".*\n')
        await self.command("qmp_capabilities")


def disk(path: Path, bus: str = "virtio", *, form: str = "raw", name: str = "root") -> list[str]:
    """Words that attach a disk; what the guest writes to it is forgotten with QEMU."""
    devices = {
        "virtio": [f"virtio-blk-pci,drive={name},bootindex=1"],
        "sata": [f"ide-hd,drive={name},bus=ide.0,bootindex=1"],
        "scsi": ["virtio-scsi-pci,id=scsi", f"scsi-hd,drive={name},bus=scsi.0,bootindex=1"],
        "usb": ["qemu-xhci,id=usb", f"usb-storage,drive={name},bus=usb.0,bootindex=1"],
    }
    words = ["-drive", f"if=none,id={name},file={path},format={form},snapshot=on"]
    for device in devices[bus]:
        words += ["-device", device]
    return words


def cdrom(path: Path, name: str = "seed") -> list[str]:
    return [
        *("-drive", f"if=none,id={name},file={path},format=raw,readonly=on"),
        *("-device", f"virtio-blk-pci,drive={name}"),
    ]


class _Listener:
    """A unix socket that QEMU connects to: nothing it says can come before someone listens."""

    def __init__(self) -> None:
        self.line: asyncio.Future[Line] = asyncio.get_running_loop().create_future()

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.line.set_result(Line(reader, writer))


@contextlib.asynccontextmanager
async def _listening(path: Path) -> AsyncIterator[_Listener]:
    listener = _Listener()
    server = await asyncio.start_unix_server(listener.accept, path)
    try:
        yield listener
    finally:
        server.close()
        os.unlink(path)  # noqa: PTH108  # of a folder in memory, at once


async def _connected(
    process: asyncio.subprocess.Process, *listeners: _Listener
) -> tuple[Line, Line]:
    async def all_lines() -> tuple[Line, Line]:
        serial, monitor = [await listener.line for listener in listeners]
        return serial, monitor

    async def gone() -> tuple[Line, Line]:
        said = await process.stderr.read() if process.stderr else b""
        raise AssertionError(f"QEMU ended at once: {said.decode()}")

    async with asyncio.timeout(ANSWER_LIMIT_S):
        return await first_of(all_lines(), gone())


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
    _out, said = await process.communicate()
    if said:
        # pytest shows it when the test has failed.
        sys.stderr.write(f"QEMU: {said.decode(errors='replace')}")
