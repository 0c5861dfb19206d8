"""A launcher as in production, with the test as its handler.

    async with launched(folder) as world:
        await world.launcher.sync(world.vmi())
        await world.until(lambda report: report.status.status == "Running")

The sandbox is the stand-alone mode's: namespaces of its own, user 107, no capabilities, and of the machine's
files only what a container has. Inside are the real monitor, manager, libvirtd and QEMU.
"""

import asyncio
import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from kubevirt.base import commands
from kubevirt.components.launcher import launching
from kubevirt.components.launcher.settings import Settings
from kubevirt.components.launcher.standalone import devices, sandbox
from kubevirt.components.launcher.standalone.sandbox import Sandbox
from kubevirt.host.libvirt.daemon import DaemonSettings
from kubevirt.rpc import cmd, notify, reports, serving
from kubevirt.rpc.calling import Caller
from kubevirt.rpc.errors import NoAnswer
from kubevirt.rpc.messages import notify_info_pb2, notify_pb2
from kubevirt.virt.layout import Layout

USER = 107
UID = "6c1b1e3c-0000-4000-8000-00000000abcd"
LIMIT_S = 60.0
LAYOUT = Layout()
LIBVIRT = "/var/run/libvirt"
OWN = {
    LAYOUT.private: "private",
    LAYOUT.share: "share",
    LAYOUT.ephemeral: "ephemeral",
    LIBVIRT: "libvirt",
}
"""The launcher's folders: path inside, name outside."""

MARKS = {
    "manager": (b"kubevirt.components.launcher.manager", True),
    "preparer": (b"kubevirt.components.launcher.manager", False),
    "libvirtd": (b"libvirtd", True),
    "qemu": (b"qemu-system", True),
}
"""A word of the command line, and whether it is a child of the monitor."""

Report = tuple[str, reports.Domain]


class Handler:
    """Who is told; it can stop listening."""

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.events: list[dict[str, Any]] = []
        self.is_away = False
        self._news = asyncio.Condition()

    async def info(
        self, _: notify_info_pb2.NotifyInfoRequest
    ) -> notify_info_pb2.NotifyInfoResponse:
        return notify_info_pb2.NotifyInfoResponse(supportedNotifyVersions=["v1"])

    async def handle_domain_event(
        self, request: notify_pb2.DomainEventRequest
    ) -> notify_pb2.Response:
        await self._is_there()
        async with self._news:
            self.reports.append((request.eventType, reports.decoded(request.domainJSON)))
            self._news.notify_all()
        return notify_pb2.Response(success=True)

    async def handle_k8s_event(self, request: notify_pb2.K8sEventRequest) -> notify_pb2.Response:
        async with self._news:
            self.events.append(json.loads(request.eventJSON))
            self._news.notify_all()
        return notify_pb2.Response(success=True)

    async def _is_there(self) -> None:
        while self.is_away:  # noqa: ASYNC110  # a test sets it at any time
            await asyncio.sleep(0.01)

    @property
    def states(self) -> list[str]:
        """The story so far: kind and state, without repetitions."""
        story = [f"{kind} {report.status.status}" for kind, report in self.reports]
        return [each for index, each in enumerate(story) if story[index - 1 : index] != [each]]

    async def told(self, wanted: Callable[["Handler"], object], limit_s: float = LIMIT_S) -> None:
        """Waits until what was told so far fulfils the wish."""
        try:
            async with asyncio.timeout(limit_s), self._news:
                await self._news.wait_for(lambda: wanted(self))
        except TimeoutError:
            raise AssertionError(
                f"after {limit_s} s the handler has only heard {self.states} and "
                f"{[each.get('reason') for each in self.events]}"
            ) from None

    async def hears(self, status: str, reason: str | None = None, kind: str | None = None) -> None:
        await self.told(
            lambda it: any(
                report.status.status == status
                and reason in (None, report.status.reason)
                and kind in (None, its_kind)
                for its_kind, report in it.reports[-1:]
            )
        )


class World:
    """One launcher, from outside."""

    uid = UID

    def __init__(self, folder: Path, process: commands.Process, pid: int, log: Path) -> None:
        self.folder = folder
        self.process = process
        self.pid = pid
        """Of the monitor, as we see it."""
        self.handler = Handler()
        self.launcher: cmd.Launcher
        self._log = log

    @property
    def notes(self) -> Path:
        return self.folder / "private/launcher"

    def note(self, name: str) -> str:
        path = self.notes / name
        return path.read_text().strip() if path.exists() else ""

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def serial_log(self) -> str:
        path = self.folder / "private" / UID / "virt-serial0-log"
        return path.read_text(errors="replace") if path.exists() else ""

    @property
    def socket(self) -> Path:
        return self.folder / "share/sockets/launcher-sock"

    def vmi(self, **changes: Any) -> bytes:
        return self.encoded(tiny_vmi(**changes))

    @staticmethod
    def encoded(vmi: dict[str, Any]) -> bytes:
        return msgspec.json.encode(vmi)

    # Processes inside.

    def pid_of(self, who: str) -> int | None:
        """`manager`, `preparer`, `libvirtd` or `qemu`; our number of it."""
        mark, parent = MARKS[who]
        for pid in self.pids():
            with suppress(FileNotFoundError, ProcessLookupError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if any(mark in word for word in line[:4]) and _is_child(pid, self.pid) is parent:
                    return pid
        return None

    def pids(self) -> Iterator[int]:
        mine = _pid_namespace(self.pid)
        for each in Path("/proc").iterdir():
            if each.name.isdigit() and mine and _pid_namespace(int(each.name)) == mine:
                yield int(each.name)

    def qemus(self) -> list[str]:
        """Command lines of all of them, also of those that libvirt asks what they can do."""
        return [line for pid in self.pids() if "qemu-system" in (line := command_line(pid))]

    def pid_of_guest(self) -> int | None:
        """Of its QEMU, from its very begin; `qemu` may also be one that libvirt asks what it can do."""
        return next((pid for pid in self.pids() if "-name guest=" in command_line(pid)), None)

    def kill(self, who: str, number: signal.Signals = signal.SIGKILL) -> int:
        pid = self.pid_of(who)
        assert pid is not None, f"there is no {who}"
        os.kill(pid, number)
        return pid

    def terminate(self) -> None:
        """What a kubelet does to a pod."""
        os.kill(self.pid, signal.SIGTERM)

    async def plug(self, **taps: str) -> None:
        """What the privileged side does: a tap for each interface, and a list of them."""
        inside = ("--target", str(self.pid), "--net", "ip")
        for tap in taps.values():
            await commands.run(
                "nsenter", *inside, "tuntap", "add", tap, "mode", "tap", "user", "107"
            )
        facts = {name: {"tap": tap} for name, tap in taps.items()}
        (self.folder / "share/interfaces.json").write_bytes(msgspec.json.encode(facts))

    # Waiting.

    async def until(self, condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
        try:
            async with asyncio.timeout(limit_s):
                while not condition():  # noqa: ASYNC110  # what it looks at has no events for us
                    await asyncio.sleep(0.01)
        except TimeoutError:
            raise AssertionError(f"it did not come about within {limit_s} s") from None

    async def is_back(self, who: str, killed: int) -> None:
        await self.until(lambda: self.pid_of(who) not in (None, killed))

    async def answers(self, limit_s: float = LIMIT_S) -> None:
        """Until the launcher answers a ping."""
        async with asyncio.timeout(limit_s):
            while True:
                try:
                    return await self.launcher.ping()
                except NoAnswer:
                    await asyncio.sleep(0.01)

    async def ended(self, limit_s: float = LIMIT_S) -> int:
        async with asyncio.timeout(limit_s):
            return await self.process.wait()

    async def runs(self, **changes: Any) -> None:
        """A guest, as tiny as can be."""
        await self.launcher.sync(self.vmi(**changes))
        await self.handler.hears("Running")


def tiny_vmi(**changed: Any) -> dict[str, Any]:
    """No disk, no network: its firmware looks for something to boot for as long as it lives."""
    changes = dict(changed)
    devices = {
        "autoattachPodInterface": False,
        "autoattachMemBalloon": False,
        **changes.pop("devices", {}),
    }
    domain = {"memory": {"guest": "32Mi"}, "devices": devices, **changes.pop("domain", {})}
    spec = {
        "domain": domain,
        "terminationGracePeriodSeconds": 5,
        **changes,
    }
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachineInstance",
        "metadata": {"name": "testvm", "namespace": "default", "uid": UID},
        "spec": spec,
    }


@asynccontextmanager
async def launched(
    *,
    grace_s: float = 100,
    images: Sequence[Path] = (),
    scratch_bytes: int | None = None,
    has_handler: bool = True,
    **changed: Any,
) -> AsyncIterator[World]:
    """`changed` are settings of the manager; `images` become container disks, in their order. Nothing of it is left when
    it is over.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(_folders())
        if scratch_bytes is not None:
            stack.enter_context(_small(folder / "ephemeral", scratch_bytes))
        for number, image in enumerate(images):
            shutil.copyfile(image, folder / f"share/container-disks/disk_{number}.img")
        libvirt = DaemonSettings(home=LIBVIRT, capabilities_seed=str(seed()), emulated=True)
        chosen = Settings(**{"name": "testvm", "uid": UID, "libvirt": libvirt, **changed})
        launching.prepare(chosen, partial(_outside, folder))
        _give_away(folder)
        reading, writing = os.pipe()
        log = folder / "log"
        # bubblewrap writes there again at the end, so it stays open.
        status = stack.enter_context(os.fdopen(reading))
        words = sandbox.arguments(_sandbox(folder, writing), *launching.command(chosen, grace_s))
        with log.open("wb") as output:
            async with commands.spawn(
                *("unshare", "--net", "--", *words),
                output=output,
                grace_s=0.1,
                pass_fds=(writing,),
            ) as process:
                os.close(writing)
                pid = int(json.loads(await asyncio.to_thread(status.readline))["child-pid"])
                world = World(folder, process, pid, log)
                try:
                    async with _connected(
                        world, has_handler=has_handler, is_called=not chosen.commissioned
                    ):
                        yield world
                except BaseException:
                    sys.stderr.write(world.log[-20000:])
                    raise
                finally:
                    _keep_what_libvirt_learned(folder)
                    _kill(pid)
    await until_nothing_is_left(folder)


async def until_nothing_is_left(folder: Path) -> None:
    """The kernel ends what is in a namespace a moment after its first process."""
    try:
        async with asyncio.timeout(LIMIT_S):
            while left_of(folder):  # noqa: ASYNC110  # nobody tells
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"left of a launcher: {left_of(folder)}") from None


def left_of(folder: Path) -> list[str]:
    """Processes that name a launcher's folder or see it, and what is mounted in it. Its network is its processes'."""
    found = [str(folder)] if folder.exists() else []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if str(folder) in words or str(folder) in (process / "mountinfo").read_text():
                found.append(f"process {process.name} {words[:120]}")
    return found


@contextmanager
def _folders() -> Iterator[Path]:
    """Near the root: a socket's address has room for 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="launcher-", dir="/tmp"))
    folder.chmod(0o755)
    for name in (*OWN.values(), "share/container-disks", "etc"):
        (folder / name).mkdir(parents=True)
    for name, text in sandbox.accounts("testvm").items():
        (folder / "etc" / name).write_text(text)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _small(folder: Path, size_bytes: int) -> Iterator[None]:
    """A file system that is soon full."""
    options = f"size={size_bytes},mode=0755,uid={USER},gid={USER}"
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    subprocess.run(mount, check=True, timeout=60)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, timeout=60)


def _outside(folder: Path, path: str) -> Path:
    """Where a path of the launcher's is for us."""
    inside, name = next(each for each in OWN.items() if f"{path}/".startswith(f"{each[0]}/"))
    return folder / name / path.removeprefix(inside).lstrip("/")


def _give_away(folder: Path) -> None:
    for name in OWN.values():
        for each in (folder / name, *(folder / name).rglob("*")):
            os.lchown(each, USER, USER)


def _sandbox(folder: Path, status: int) -> Sandbox:
    return Sandbox(
        etc=folder / "etc",
        binds={path: folder / name for path, name in OWN.items()},
        devices={str(devices.TUN): devices.node(devices.TUN, folder)},
        hostname="testvm",
        status_fd=status,
    )


@asynccontextmanager
async def _connected(world: World, *, has_handler: bool, is_called: bool) -> AsyncIterator[None]:
    """`is_called`: the launcher is asked for its guest, so it answers first."""
    async with AsyncExitStack() as stack:
        if has_handler:
            ear = world.folder / "share/domain-notify-pipe.sock"
            services = {notify.SERVICE: world.handler, notify.INFO_SERVICE: world.handler}
            await stack.enter_async_context(serving.serving(str(ear), services))
            os.chown(ear, USER, USER)
        caller = await stack.enter_async_context(Caller(str(world.socket), "the launcher"))
        world.launcher = cmd.Launcher(caller)
        if is_called:
            await world.until(lambda: world.socket.exists() or not world.process.is_running)
            assert world.process.is_running, "the launcher has ended at once"
        yield


@cache
def seed() -> Path:
    """What libvirt learned about QEMU in earlier tests of this process."""
    folder = Path(tempfile.mkdtemp(prefix="launcher-capabilities-"))
    atexit.register(shutil.rmtree, folder)
    return folder


def _keep_what_libvirt_learned(folder: Path) -> None:
    for file in folder.glob("libvirt/cache/libvirt/qemu/cache/capabilities/*.xml"):
        if not (seed() / file.name).exists():
            shutil.copyfile(file, seed() / file.name)


def _kill(pid: int) -> None:
    """The whole namespace ends with its first process."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _is_child(pid: int, parent: int) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return f"PPid:\t{parent}" in lines


def _pid_namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""
