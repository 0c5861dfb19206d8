"""The sandbox, tried from inside: a program in the launcher's place looks for a way out."""

import asyncio
import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import kubevirt
from kubevirt.base import commands
from kubevirt.base.clock import Clock
from kubevirt.components.launcher.arrival import arrival
from kubevirt.components.launcher.standalone import devices, sandbox
from kubevirt.components.launcher.standalone.folders import LAUNCHER, Place, Run
from kubevirt.components.launcher.standalone.launcher import allowed_calls, sandboxed
from kubevirt.components.launcher.standalone.mounts import Mount
from kubevirt.components.launcher.standalone.sandbox import Sandbox
from kubevirt.host.net.netns import Namespace
from kubevirt.virt.layout import Layout

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root: sandboxes are made"),
    pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap: install bubblewrap"),
]

LAYOUT = Layout()
LIBVIRT = "/var/run/libvirt"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Place(runtime=tmp_path, store=tmp_path).run("1234")
    run.folder.mkdir(parents=True)
    run.make()
    run.etc.mkdir()
    for name, text in sandbox.accounts("testvm").items():
        (run.etc / name).write_text(text)
    run.give_away()
    return run


async def inside(run: Run, program: str, *mounts: Mount) -> Any:
    """What the program, which is Python, prints as JSON."""
    status = os.open(os.devnull, os.O_WRONLY)
    try:
        with allowed_calls() as calls:
            return await run_in(run, program, mounts, status, calls.fileno())
    finally:
        os.close(status)


async def run_in(run: Run, program: str, mounts: Sequence[Mount], status: int, calls: int) -> Any:
    it = Sandbox(
        etc=run.etc,
        binds=run.binds(LAYOUT, LIBVIRT),
        mounts=mounts,
        devices={str(devices.TUN): devices.node(devices.TUN, run.folder)},
        hostname="testvm",
        status_fd=status,
        calls_fd=calls,
    )
    python = [sys.executable, "-I", "-c", program]
    words = sandbox.arguments(it, python, {"PATH": "/usr/bin:/usr/sbin"})
    done = await commands.run(*words, pass_fds=(status, calls))
    return json.loads(done.stdout)


async def test_it_is_nobody_special(run: Run) -> None:
    status = await inside(
        run,
        "import json; print(json.dumps({line.partition(':')[0]: line.partition(':')[2].strip() "
        "for line in open('/proc/self/status')}))",
    )
    assert status["Pid"] == "1"
    assert status["Uid"].split() == [str(LAUNCHER)] * 4
    assert status["Gid"].split() == [str(LAUNCHER)] * 4
    assert status["Groups"] in {"", str(LAUNCHER)}
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"] == "2"
    for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        assert int(status[kind], 16) == 0, kind


async def test_of_the_machines_files_it_sees_what_it_was_given(run: Run) -> None:
    top = await inside(run, "import json, os; print(json.dumps(sorted(os.listdir('/'))))")
    ours = {path.parts[1] for path in sandbox.python_paths()}
    system = {"bin", "lib", "lib32", "lib64", "libx32", "sbin", "usr"}
    given = {"dev", "etc", "proc", "run", "sys", "tmp", "var"}
    assert set(top) - system - ours == given - ours  # a checkout may itself be below /tmp
    for hidden in ("/root", "/home", "/var/run/docker.sock", "/etc/shadow", "/var/lib", "/boot"):
        if ours_below := [path for path in sandbox.python_paths() if path.is_relative_to(hidden)]:
            assert await other_files(run, hidden, ours_below) == [], hidden
        else:
            program = f"import os; print(int(os.path.exists({hidden!r})))"
            assert await inside(run, program) == 0, hidden


async def other_files(run: Run, top: str, ours: Sequence[Path]) -> Any:
    """What lies below a folder beside our own code, for a checkout may be below /root."""
    program = (
        "import json, os; print(json.dumps([f'{folder}/{name}' "
        f"for folder, _, names in os.walk({top!r}) for name in names "
        f"if not folder.startswith({tuple(map(str, ours))!r})]))"
    )
    return await inside(run, program)


async def test_of_our_own_checkout_it_sees_only_the_code(run: Run) -> None:
    above = Path(kubevirt.__file__).parents[1]
    seen = await inside(run, f"import json, os; print(json.dumps(os.listdir({str(above)!r})))")
    assert seen == ["kubevirt"] or above.is_relative_to(sys.prefix)


async def test_it_sees_no_other_process_and_reaches_none(run: Run) -> None:
    program = (
        "import json, os\n"
        "pids = [int(name) for name in os.listdir('/proc') if name.isdigit()]\n"
        f"try: os.kill({os.getpid()}, 0); reached = True\n"
        "except ProcessLookupError: reached = False\n"
        "print(json.dumps([pids, reached]))"
    )
    assert await inside(run, program) == [[1], False]


ATTEMPTS: Mapping[str, str] = {
    "write to the system": "open('/usr/x', 'w')",
    "write to the root": "open('/x', 'w')",
    "write to our code": f"open({str(Path(kubevirt.__file__).parent / 'x')!r}, 'w')",
    "write to its accounts": "open('/etc/passwd', 'a')",
    "become root": "os.setuid(0)",
    "make a device": "os.mknod('/tmp/disk', 0o60600, os.makedev(8, 0))",
    "open the machine's memory": "open('/dev/mem')",
    "make a device beside the others": "os.mknod('/dev/disk', 0o60600, os.makedev(8, 0))",
    "open a device that somebody left there": f"open('{LAYOUT.share}/zero', 'rb')",
    "open a raw disk that somebody left there": f"open('{LAYOUT.share}/disk', 'rb')",
    "change the kernel": "open('/proc/sys/kernel/core_pattern', 'w')",
    "change the memory of others": "open('/proc/sysrq-trigger', 'w')",
    "mount": "check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "mount what is there elsewhere": "check(libc.mount(b'/usr', b'/tmp', None, 4096, None))",
    "mount the programs anew": "check(libc.mount(None, b'/usr', None, 32 | 4096, None))",
    "uncover what lies below": "check(libc.umount2(b'/proc', 2))",
    "leave its namespace": "check(libc.unshare(0x20000))",
    "be root in a namespace of users": "check(libc.unshare(0x10000000))",
    "enter a namespace": "check(libc.setns(os.open('/proc/self/ns/mnt', os.O_RDONLY), 0))",
    "leave the root": "os.chroot('/tmp')",
    "change the time": "import time; time.clock_settime(time.CLOCK_REALTIME, 0)",
    "rename the machine": "import socket; socket.sethostname('x')",
    "sniff": "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    "make a tap": "tap()",
}


@pytest.fixture
def devices_left_there(run: Run) -> None:
    """By whoever; anybody may open them, and these two do no harm."""
    for name, kind, number in (
        ("zero", stat.S_IFCHR, os.makedev(1, 5)),
        ("disk", stat.S_IFBLK, Path("/usr").stat().st_dev),
    ):
        os.mknod(run.folder / "share" / name, kind, number)
        (run.folder / "share" / name).chmod(0o444)
    with (run.folder / "share/zero").open("rb") as zeros:
        assert zeros.read(1) == b"\0"  # here they are no files but devices


@pytest.mark.usefixtures("devices_left_there")
@pytest.mark.parametrize("attempt", ATTEMPTS)
async def test_it_cannot(run: Run, attempt: str) -> None:
    program = (
        "import ctypes, fcntl, os, struct\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def check(result):\n"
        "    if result: raise OSError(ctypes.get_errno(), 'refused')\n"
        "def tap():\n"
        "    with open('/dev/net/tun', 'rb+', buffering=0) as tun:\n"
        "        fcntl.ioctl(tun, 0x400454ca, struct.pack('16sH22x', b'tap9', 2))\n"
        f"try: {ATTEMPTS[attempt]}\n"
        "except OSError as error: print(error.errno)\n"
        "else: print(0)"
    )
    assert await inside(run, program) in {1, 2, 6, 13, 30}  # EPERM ENOENT ENXIO EACCES EROFS


async def test_its_own_folders_are_its_to_write(run: Run) -> None:
    program = (
        "import json\n"
        f"for folder in {[*run.binds(LAYOUT, LIBVIRT)]!r}: open(folder + '/note', 'w').close()\n"
        "print(1)"
    )
    assert await inside(run, program) == 1
    assert (run.folder / "private/note").stat().st_uid == LAUNCHER


async def test_a_disk_is_read_only_unless_it_was_given_for_writing(
    run: Run, tmp_path: Path
) -> None:
    for name in ("mine", "image"):
        (tmp_path / name).write_bytes(b"1")
        os.chown(tmp_path / name, LAUNCHER, LAUNCHER)
    mounts = (
        Mount(source=tmp_path / "mine", target="/tmp/mine", read_only=False),
        Mount(source=tmp_path / "image", target="/tmp/image"),
    )
    program = (
        "import os\n"
        "open('/tmp/mine', 'w').write('2')\n"
        "try: open('/tmp/image', 'w')\n"
        "except OSError as error: print(error.errno)"
    )
    assert await inside(run, program, *mounts) == 30
    assert (tmp_path / "mine").read_text() == "2"
    assert (tmp_path / "image").read_text() == "1"


def test_a_device_that_only_root_may_open_gets_a_node_of_its_own(tmp_path: Path) -> None:
    private = tmp_path / "private"
    os.mknod(private, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    own = devices.node(private, _folder(tmp_path / "run"))
    assert own != private
    assert own.stat().st_rdev == private.stat().st_rdev
    assert own.stat().st_uid == LAUNCHER
    assert private.stat().st_uid == 0
    private.chmod(0o666)
    assert devices.node(private, tmp_path) == private


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


async def test_nothing_inside_runs_before_it_is_under_its_limits(run: Run, clock: Clock) -> None:
    """Or a child that is made before that would never be."""
    ran = run.folder / "share/ran"
    too_early = []

    def take_in(_: int) -> None:
        time.sleep(0.1)  # as long as a start takes
        too_early.append(ran.exists())

    it = Sandbox(etc=run.etc, binds=run.binds(LAYOUT, LIBVIRT), hostname="testvm")
    command = ("touch", f"{LAYOUT.share}/ran")
    with Namespace.new("network namespace of a test") as inside:
        async with (
            asyncio.timeout(60),
            sandboxed(
                *(it, command, {"PATH": "/usr/bin"}),
                inherited=(inside.fd,),
                take_in=take_in,
                share=run.folder / "share",
                log=run.folder / "log",
                clock=clock,
            ),
        ):
            await arrival(ran)
    assert too_early == [False, False]
