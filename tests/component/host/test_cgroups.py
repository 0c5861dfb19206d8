"""Control groups: the machine's own where it has them, and trees of plain files for the other kind."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.strangers import NOBODY, as_somebody_else

from kubevirt.base import commands
from kubevirt.base.clock import Clock, SystemClock
from kubevirt.base.commands import Limits
from kubevirt.base.errors import UserError
from kubevirt.host.cgroups.detection import detect
from kubevirt.host.cgroups.group import (
    CgroupError,
    CgroupLimits,
    Cgroups,
    CgroupUnavailableError,
    Group,
    Usage,
)
from kubevirt.host.cgroups.v1 import CgroupsV1
from kubevirt.host.cgroups.v2 import CgroupsV2

MIB = 1 << 20
PARENT = f"kubevirt-test-{os.getpid()}"


def machines_own(kind: str) -> Cgroups | None:
    """The machine's control groups, if it has those; v2 may be there without its controllers."""
    if os.geteuid() != 0:
        return None
    if kind == "v1":
        with suppress(CgroupUnavailableError):
            found = detect()
            return found if isinstance(found, CgroupsV1) else None
        return None
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, point, file_system, options, *_ = line.split()
        if file_system == "cgroup2" and "rw" in options.split(","):
            return CgroupsV2(Path(point))
    return None


@pytest.fixture(params=["v1", "v2"])
def cgroups(request: pytest.FixtureRequest) -> Iterator[Cgroups]:
    found = machines_own(request.param)
    if found is None:
        pytest.skip(f"needs root and a machine with control groups {request.param}")
    yield found
    left = found.open("", PARENT)
    asyncio.run(left.kill(SystemClock()))
    left.remove()


def counts(cgroups: Cgroups, what: str) -> Group:
    """A group on this machine, if it has the controller."""
    group = cgroups.create(PARENT, what)
    if getattr(group.usage(), what) is None:
        pytest.skip(f"these control groups do not count {what} on this machine")
    return group


@asynccontextmanager
async def stopped(*command: str) -> AsyncIterator[int]:
    """A program that waits to be let go, and may never take much of the machine."""
    script = 'kill -STOP $$; exec "$@"'
    limits = Limits(cpu_s=20, memory_bytes=512 * MIB)
    async with commands.spawn("sh", "-c", script, "sh", *command, limits=limits) as process:
        await until(lambda: state_of(process.pid) == "T")
        yield process.pid
        process.send(signal.SIGCONT)
        process.kill()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # the kernel's files have no event to wait for
            await asyncio.sleep(0.01)


async def test_processes_are_taken_in_counted_and_ended(cgroups: Cgroups, clock: Clock) -> None:
    group = cgroups.create(PARENT, "guest")
    async with commands.spawn("sleep", "60") as one, commands.spawn("sleep", "60") as other:
        group.add(one.pid)
        group.add(other.pid)
        assert group.pids() == sorted([one.pid, other.pid])
        await group.kill(clock)
        assert await one.wait() == await other.wait() == -signal.SIGKILL
    assert group.pids() == []
    group.remove()
    group.remove()
    with pytest.raises(CgroupError, match="it is gone"):
        group.add(os.getpid())


async def test_what_a_process_starts_ends_with_the_group_also_in_groups_below(
    cgroups: Cgroups, clock: Clock
) -> None:
    group = cgroups.create(PARENT, "guest")
    below = cgroups.create(f"{PARENT}/guest", "emulator") if is_v1(cgroups) else group
    async with stopped("sh", "-c", "sleep 60 & sleep 60 & wait") as pid:
        below.add(pid)
        os.kill(pid, signal.SIGCONT)
        await until(lambda: len(group.pids()) == 3)
        await group.kill(clock)
    group.remove()


def is_v1(cgroups: Cgroups) -> bool:
    return isinstance(cgroups, CgroupsV1)


async def test_a_group_in_use_is_not_removed(cgroups: Cgroups) -> None:
    group = cgroups.create(PARENT, "guest")
    async with commands.spawn("sleep", "60") as process:
        group.add(process.pid)
        with pytest.raises(CgroupError, match="cannot be removed: Device or resource busy"):
            group.remove()


async def test_a_process_that_is_gone_is_told_so(cgroups: Cgroups) -> None:
    group = cgroups.create(PARENT, "guest")
    with pytest.raises(CgroupError, match="cannot take in process 4194304: No such process"):
        group.add(4_194_304)


async def test_a_group_is_found_again_after_a_restart(cgroups: Cgroups) -> None:
    cgroups.create(PARENT, "guest")
    async with commands.spawn("sleep", "60") as process:
        cgroups.open(PARENT, "guest").add(process.pid)
        assert cgroups.create(PARENT, "guest").pids() == [process.pid]


async def test_processor_time_is_counted(cgroups: Cgroups) -> None:
    group = counts(cgroups, "cpu_usec")
    async with stopped("sh", "-c", "while :; do :; done") as pid:
        group.add(pid)
        os.kill(pid, signal.SIGCONT)
        await until(lambda: (group.usage().cpu_usec or 0) > 50_000)


async def test_processor_time_is_limited(cgroups: Cgroups) -> None:
    group = counts(cgroups, "memory_bytes")  # where memory is counted, processors are
    group.limit(CgroupLimits(cpus=0.1, cpu_shares=512))
    async with stopped("sh", "-c", "while :; do :; done") as pid:
        group.add(pid)
        os.kill(pid, signal.SIGCONT)
        started = asyncio.get_running_loop().time()
        await until(lambda: (group.usage().cpu_usec or 0) > 50_000)
        took = asyncio.get_running_loop().time() - started
    assert took > 0.2, "50 ms of a tenth of a processor take half a second"


async def test_a_group_out_of_memory_loses_a_process_and_counts_it(cgroups: Cgroups) -> None:
    group = counts(cgroups, "memory_bytes")
    group.limit(CgroupLimits(memory_bytes=32 * MIB))
    assert group.usage().oom_kills == 0
    async with stopped("tail", "/dev/zero") as pid:
        group.add(pid)
        os.kill(pid, signal.SIGCONT)
        await until(lambda: group.usage().oom_kills == 1)
    peak = group.usage().memory_peak_bytes
    assert peak is None or 16 * MIB < peak <= 32 * MIB


async def test_a_fork_bomb_stops_at_its_limit(cgroups: Cgroups, clock: Clock) -> None:
    group = counts(cgroups, "pids")
    group.limit(CgroupLimits(pids=5))
    async with stopped("sh", "-c", "while sleep 60 & do :; done 2>/dev/null; sleep 60") as pid:
        group.add(pid)
        os.kill(pid, signal.SIGCONT)
        await until(lambda: group.usage().pids == 5 or not group.pids())
        assert len(group.pids()) <= 5
        await group.kill(clock)


async def test_limits_can_be_lifted(cgroups: Cgroups) -> None:
    group = counts(cgroups, "memory_bytes")
    group.limit(CgroupLimits(cpus=0.5, cpu_shares=100, memory_bytes=32 * MIB, pids=9))
    group.limit(CgroupLimits())
    group.limit(CgroupLimits(memory_bytes=64 * MIB))


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../etc", "-x", "a\nb", "n" * 300])
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    for kind in (CgroupsV1({"memory": tmp_path}), CgroupsV2(tmp_path)):
        with pytest.raises(UserError, match="cannot name a cgroup"):
            kind.create("parent", name)
        if name:
            with pytest.raises(UserError, match="cannot name a cgroup"):
                kind.open(f"a/../{name}", "x")
    assert list(tmp_path.iterdir()) == []


# Trees of plain files, for what this machine may not have.


def files(folder: Path, **contents: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def content(path: Path) -> str:
    return path.read_text()


ALL = "cpuset cpu io memory pids"


@pytest.fixture
def v2(tmp_path: Path) -> Path:
    """A tree as Linux 6 shows it: mount, kubevirt, guest."""
    for path in ("", "kubevirt"):
        files(tmp_path / path, cgroup__controllers=ALL, cgroup__subtree_control="")
    files(
        tmp_path / "kubevirt" / "guest",
        cgroup__procs="",
        cpu__max="",
        cpu__weight="",
        cpu__stat="usage_usec 1234567\nuser_usec 1000000\nsystem_usec 234567\n",
        memory__max="",
        memory__current="41943040\n",
        memory__peak="52428800\n",
        memory__events="low 0\nhigh 0\nmax 3\noom 2\noom_kill 2\noom_group_kill 0\n",
        pids__max="",
        pids__current="7\n",
    )
    return tmp_path


def test_v2_hands_controllers_down_and_sets_limits(v2: Path) -> None:
    limits = CgroupLimits(cpus=1.5, cpu_shares=1024, memory_bytes=64 * MIB, pids=100)
    CgroupsV2(v2).create("/kubevirt/", "guest", limits)
    for path in ("", "kubevirt"):
        assert content(v2 / path / "cgroup.subtree_control") == "+cpu +memory +pids"
    guest = v2 / "kubevirt" / "guest"
    assert content(guest / "cpu.max") == "150000 100000"
    assert content(guest / "cpu.weight") == "39"
    assert content(guest / "memory.max") == str(64 * MIB)
    assert content(guest / "pids.max") == "100"


def test_v2_tells_what_is_used(v2: Path) -> None:
    assert CgroupsV2(v2).open("kubevirt", "guest").usage() == Usage(
        memory_bytes=40 * MIB,
        memory_peak_bytes=50 * MIB,
        cpu_usec=1_234_567,
        oom_kills=2,
        pids=7,
    )


def test_v2_of_an_older_kernel_has_no_peak(v2: Path) -> None:
    (v2 / "kubevirt" / "guest" / "memory.peak").unlink()
    usage = CgroupsV2(v2).open("kubevirt", "guest").usage()
    assert (usage.memory_peak_bytes, usage.memory_bytes) == (None, 40 * MIB)


async def test_v2_kills_with_one_word(v2: Path, clock: Clock) -> None:
    guest = v2 / "kubevirt" / "guest"
    async with commands.spawn("sleep", "60") as process:
        files(guest, cgroup__kill="", cgroup__procs=f"{process.pid}\n")
        group = CgroupsV2(v2).open("kubevirt", "guest")
        with pytest.raises(
            CgroupError, match=r"of cgroup kubevirt/guest were killed and do not end"
        ):
            await group.kill(clock, timeout_s=0.05)
        assert content(guest / "cgroup.kill") == "1"
        assert process.is_running, "files kill nobody, and the word replaces the signals"


async def test_v2_of_an_older_kernel_kills_each(v2: Path, clock: Clock) -> None:
    async with commands.spawn("sleep", "60") as process:
        files(v2 / "kubevirt" / "guest", cgroup__procs=f"{process.pid}\n")
        with suppress(CgroupError):
            await CgroupsV2(v2).open("kubevirt", "guest").kill(clock, timeout_s=0.05)
        assert await process.wait() == -signal.SIGKILL


def test_a_controller_that_is_not_handed_down_is_told(v2: Path) -> None:
    (v2 / "kubevirt" / "guest" / "memory.max").unlink()
    CgroupsV2(v2).create("kubevirt", "guest", CgroupLimits(pids=10))
    with pytest.raises(CgroupUnavailableError, match=r"hands down no memory\.max"):
        CgroupsV2(v2).create("kubevirt", "guest", CgroupLimits(memory_bytes=MIB))


def test_v1_sets_limits_in_each_tree_and_tells_what_is_used(tmp_path: Path) -> None:
    both = files(
        tmp_path / "cpu,cpuacct" / "kubevirt" / "guest",
        cpu__shares="",
        cpu__cfs_quota_us="",
        cpu__cfs_period_us="",
        cpuacct__usage="9876543210\n",
    )
    memory = files(
        tmp_path / "memory" / "kubevirt" / "guest",
        memory__limit_in_bytes="",
        memory__usage_in_bytes="1048576\n",
        memory__max_usage_in_bytes="2097152\n",
        memory__oom_control="oom_kill_disable 0\nunder_oom 0\noom_kill 4\n",
    )
    mounts = {
        "cpu": tmp_path / "cpu,cpuacct",
        "cpuacct": tmp_path / "cpu,cpuacct",
        "memory": tmp_path / "memory",
    }
    group = CgroupsV1(mounts).create("kubevirt", "guest", CgroupLimits(cpus=0.5, cpu_shares=2048))
    assert content(both / "cpu.cfs_quota_us") == "50000"
    assert content(both / "cpu.shares") == "2048"
    assert content(memory / "memory.limit_in_bytes") == "-1"
    assert group.usage() == Usage(
        memory_bytes=MIB, memory_peak_bytes=2 * MIB, cpu_usec=9_876_543, oom_kills=4
    )
    with pytest.raises(CgroupUnavailableError, match=r"this machine has no pids\.max"):
        group.limit(CgroupLimits(pids=1))


V2_ALONE = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n"
V2_BESIDE = "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
V1_TREES = """\
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0
"""
V1_NAMED = "cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n"


@pytest.mark.parametrize(
    ("mounts", "kind"),
    [
        (V2_ALONE, CgroupsV2),
        (V2_BESIDE + V1_TREES, CgroupsV1),
        (V2_BESIDE + V1_NAMED, CgroupsV2),
    ],
    ids=["v2", "hybrid", "systemd only"],
)
def test_the_kind_is_told_from_the_mounts(tmp_path: Path, mounts: str, kind: type) -> None:
    (tmp_path / "mounts").write_text(f"proc /proc proc rw 0 0\n{mounts}")
    assert type(detect(tmp_path / "mounts")) is kind


def test_a_machine_without_control_groups_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "mounts").write_text("proc /proc proc rw 0 0\n")
    with pytest.raises(CgroupUnavailableError, match="has no control groups mounted"):
        detect(tmp_path / "mounts")


@as_somebody_else
async def test_who_may_not_make_groups_is_told_so() -> None:
    script = (
        "from kubevirt.host.cgroups.detection import detect\n"
        "try: detect().create('kubevirt-test', 'guest')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )
    done = await commands.run(
        "setpriv", f"--reuid={NOBODY}", "--clear-groups", sys.executable, "-c", script
    )
    assert done.text.startswith("CgroupUnavailableError cgroup kubevirt-test/guest cannot be made")
