"""A guest of the benchmark: `virt-launcher --standalone` as a process, and what can be asked of it."""

import asyncio
import os
import re
import signal
import socket
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from bench.launcher.place import Place
from bench.launcher.processes import Process, processes_of
from bench.launcher.stages import Stage, Traces, stages
from kubevirt.base.files import Root
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.cmd import Launcher

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / ".venv/bin/virt-launcher"
MANIFEST = ROOT / "examples/standalone/vm.yaml"
"""A network card, a disk from an image, cloud-init: what the stages of a start are about."""
START_LIMIT_S = 120.0
END_LIMIT_S = 30.0
_RUNS = re.compile(r"virt-launcher: guest \S+ runs\b")


class StartFailed(Exception):  # noqa: N818  # it is what it did
    pass


class Guest:
    """Made by `running`."""

    def __init__(self, process: asyncio.subprocess.Process, uid: str, place: Place) -> None:
        self.pid = process.pid
        self.seconds = 0.0
        """From the start of the program to a guest that runs."""
        self.stages: list[Stage] = []
        self._process = process
        self._run = place.home / "runs" / uid
        self._serial_log = self._run / "private" / uid / "virt-serial0-log"

    async def come_up(self, began: float, began_by_clock: float) -> None:
        said, ran = "", 0.0
        assert self._process.stderr is not None
        async with asyncio.timeout(START_LIMIT_S):
            while " total " not in said:
                line = (await self._process.stderr.readline()).decode()
                if _RUNS.match(line) and not ran:
                    self.seconds, ran = time.monotonic() - began, time.time()
                if not line:
                    raise StartFailed(f"virt-launcher ended: {said.strip()}")
                said += line
        self.stages = stages(Traces(began_by_clock, ran, said, self.processes, self._run))

    @property
    def processes(self) -> dict[str, Process]:
        return processes_of(self.pid)

    def process(self, role: str) -> int:
        return self.processes[role].pid

    @property
    def has_booted(self) -> bool:
        with suppress(FileNotFoundError):
            return b"login: " in self._serial_log.read_bytes()
        return False

    async def answers(self) -> None:
        """Until somebody listens at the launcher's socket."""
        with Root.open(self._run / "share/sockets") as root:
            while True:
                with suppress(OSError), socket.socket(socket.AF_UNIX) as attempt:
                    with root.connectable("launcher-sock") as address:
                        attempt.connect(address)
                    return
                await asyncio.sleep(0.001)

    @asynccontextmanager
    async def asked(self) -> AsyncIterator[Launcher]:
        with (
            Root.open(self._run / "share/sockets") as root,
            root.connectable("launcher-sock") as address,
        ):
            async with Caller(address, "the launcher") as caller:
                yield Launcher(caller)

    async def end(self) -> None:
        """At once: the second interruption does not wait for the guest."""
        deadline = time.monotonic() + END_LIMIT_S
        while self._process.returncode is None and time.monotonic() < deadline:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)  # asyncio's own way reaps behind asyncio's back
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):
                    await self._process.wait()
        if self._process.returncode is None:
            self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def running(place: Place, memory: str | None = None) -> AsyncIterator[Guest]:
    """A guest that runs, ended with the body."""
    uid = str(uuid.uuid4())
    manifest = place.home / f"{uid}.yaml"
    manifest.write_text(yaml.safe_dump(instance(uid, memory)))
    words = ("--standalone", str(manifest), "--image-dir", str(place.images), "--timings")
    began, by_clock = time.monotonic(), time.time()
    process = await asyncio.create_subprocess_exec(
        *place.command(str(COMMAND), *words),
        env={**os.environ, "KUBEVIRT_STANDALONE_HOME": str(place.home)},
        pass_fds=(place.network.fd,),
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    guest = Guest(process, uid, place)
    try:
        await guest.come_up(began, by_clock)
        yield guest
    finally:
        await guest.end()
        manifest.unlink()


def instance(uid: str, memory: str | None = None) -> dict[str, Any]:
    spec = yaml.safe_load(MANIFEST.read_text())["spec"]["template"]["spec"]
    if memory:
        spec["domain"]["resources"] = {"requests": {"memory": memory}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": f"bench-{uid[:8]}", "uid": uid},
        "spec": spec,
    }
