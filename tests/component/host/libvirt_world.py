"""A launcher's pod as a test sees it: a sandbox with a daemon of its own, and nothing else in it.

    async with world() as it:
        await it.start_daemon()
        async with it.connected() as connection: ...

The sandbox is bubblewrap's: no root, no /dev/kvm, no network, process 1 of its own. Everything in it
ends with it, QEMU too. It obeys a shell, which stands for the launcher's monitor.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import join, quote

import pytest

from kubevirt.base.clock import SystemClock
from kubevirt.host.libvirt.arrival import wait_for_socket
from kubevirt.host.libvirt.connection import Caller, Connection, connect
from kubevirt.host.libvirt.daemon import Daemon, DaemonSettings
from kubevirt.host.libvirt.domain import LiveDomain
from kubevirt.host.libvirt.events import DomainEvent, Event, Mailbox
from kubevirt.host.libvirt.hypervisor import Hypervisor, hypervisor

needs_libvirt = pytest.mark.skipif(
    not all(map(shutil.which, ("bwrap", "qemu-system-x86_64")))
    or not any(map(shutil.which, ("libvirtd", "virtqemud"))),
    reason="needs bubblewrap, qemu-system-x86 and libvirt-daemon: install them with apt-get",
)

USER = 107
LIMIT_S = 60.0
CLOCK = SystemClock()


UUID = "5a3e2c1e-4f6b-4d3a-9a62-0f6c3e1b2d4f"


def a_guest(
    name: str = "default_testvm",
    *,
    uuid: str = UUID,
    devices: str = "",
    boot: str = "",
    usb: str = "none",
) -> str:
    """The smallest machine that QEMU makes; without `boot` it stays in the BIOS for ever."""
    return f"""
    <domain type='qemu'>
      <name>{name}</name>
      <uuid>{uuid}</uuid>
      <memory unit='MiB'>64</memory>
      <os><type arch='x86_64' machine='q35'>hvm</type>{boot}</os>
      <features><acpi/></features>
      <devices>
        <controller type='usb' model='{usb}'/>
        <memballoon model='virtio'/>
        {devices}
      </devices>
    </domain>"""


class World:
    """One sandbox and the daemon in it."""

    def __init__(
        self,
        home: Path,
        shell: asyncio.subprocess.Process,
        seed: Path | None,
        *,
        emulated: bool,
    ) -> None:
        self.home = home
        seed_folder = None if seed is None else str(seed)
        self.daemon = Daemon(
            DaemonSettings(home=str(home), capabilities_seed=seed_folder, emulated=emulated)
        )
        self.daemon_pid = 0
        self._shell = shell

    async def run(self, line: str) -> str:
        """What the shell prints for it."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"{line}\necho; echo --done--\n".encode())
        async with asyncio.timeout(LIMIT_S):
            printed = await self._shell.stdout.readuntil(b"\n--done--\n")
        return printed.removesuffix(b"\n--done--\n").decode().strip()

    async def start_daemon(self, *, wait: bool = True) -> None:
        self.daemon.prepare()
        log = quote(str(self.home / "daemon.log"))
        variables = [f"{key}={value}" for key, value in self.daemon.environment.items()]
        command = join(["env", "-i", *variables, *self.daemon.argv])
        self.daemon_pid = int(await self.run(f"{command} >>{log} 2>&1 & echo $!"))
        if wait:
            await wait_for_socket(self.daemon.socket, clock=CLOCK, limit_s=LIMIT_S)

    async def signal_daemon(self, number: signal.Signals) -> None:
        await self.run(f"kill -{number.value} {self.daemon_pid}")

    async def kill_daemon(self) -> None:
        await self.run(f"kill -9 {self.daemon_pid}; wait {self.daemon_pid}")

    def qemu_pid(self, name: str = "default_testvm") -> int:
        return int(self.daemon.qemu_pid_file(name).read_text())

    async def is_alive(self, pid: int) -> bool:
        return await self.run(f"kill -0 {pid} 2>/dev/null && echo yes") == "yes"

    @asynccontextmanager
    async def connected(self, mailbox: Mailbox | None = None) -> AsyncIterator[Connection]:
        tell = None if mailbox is None else mailbox.put
        async with connect(self.daemon.socket, clock=CLOCK, tell=tell) as connection:
            yield connection

    @asynccontextmanager
    async def hypervisor(self) -> AsyncIterator[Hypervisor]:
        async with hypervisor(self.daemon.socket, clock=CLOCK) as it:
            yield it


@asynccontextmanager
async def world(seed: Path | None = None, *, emulated: bool = True) -> AsyncIterator[World]:
    # Short, because sockets lie deep in it.
    with tempfile.TemporaryDirectory(prefix="kv-", dir="/tmp") as folder:
        home = Path(folder) / "h"
        home.mkdir()
        shell = await asyncio.create_subprocess_exec(
            *_sandbox(Path(folder), home),
            "sh",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            yield World(home, shell, seed, emulated=emulated)
        finally:
            if shell.returncode is None:
                shell.kill()
            await shell.wait()
            await _emptied(Path(folder))


def _sandbox(folder: Path, home: Path) -> list[str]:
    etc = folder / "etc"
    etc.mkdir()
    (etc / "passwd").write_text(f"qemu:x:{USER}:{USER}::/:/bin/false\n")
    (etc / "group").write_text(f"qemu:x:{USER}:\n")
    (etc / "hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename}\n")
    links = [
        f"/{each}" for each in ("bin", "sbin", "lib", "lib64") if Path(f"/{each}").is_symlink()
    ]
    return [
        "bwrap",
        *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net"),
        *("--uid", str(USER), "--gid", str(USER)),
        *("--die-with-parent", "--new-session", "--clearenv"),
        *("--setenv", "PATH", "/usr/sbin:/usr/bin"),
        *("--ro-bind", "/usr", "/usr", "--ro-bind", str(etc), "/etc"),
        *(word for link in links for word in ("--symlink", str(Path(link).readlink()), link)),
        *("--proc", "/proc", "--dev", "/dev", "--ro-bind", "/sys", "/sys", "--tmpfs", "/tmp"),
        *("--bind", str(home), str(home)),
    ]


async def _emptied(folder: Path) -> None:
    """Until the last process of the sandbox has let go of its files."""
    async with asyncio.timeout(LIMIT_S):
        while _users_of(folder):  # noqa: ASYNC110  # the kernel tells nobody when a namespace is empty
            await asyncio.sleep(0.02)


def _users_of(folder: Path) -> list[Path]:
    return [each for each in Path("/proc").glob("[0-9]*") if str(folder) in _command_line(each)]


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


async def running(caller: Caller) -> tuple[LiveDomain, ...]:
    """The guests that there are: a question that may be asked again when the daemon has died over it."""
    names = await caller.call(
        "list the guests",
        lambda it: [each.name() for each in it.listAllDomains()],
        repeatable=True,
    )
    return tuple(LiveDomain(caller, name) for name in names)


async def next_event(mailbox: Mailbox, kind: type[DomainEvent], limit_s: float = LIMIT_S) -> Event:
    """The next event of that kind; what comes before it is skipped."""
    async with asyncio.timeout(limit_s):
        async for event in mailbox:
            if isinstance(event, kind):
                return event
    raise AssertionError("the mailbox was closed")
