"""Root in a container tries the doors of the kernel: settings, devices, mounts, groups, keys, handles."""

import platform
import stat
import textwrap
import uuid
from pathlib import Path

import pytest
from tests.component.embedded.runtime.cell import Cell
from tests.component.embedded.runtime.containers import (
    IS_ROOT,
    ONLY_ROOT,
    python,
    shell,
)

from kubevirt.embedded.runtime.container import Mount
from kubevirt.embedded.runtime.groups import Groups

pytestmark = pytest.mark.skipif(not IS_ROOT, reason=ONLY_ROOT)

CALLS = """
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *arguments)
    return errno.errorcode[ctypes.get_errno()] if result < 0 else result
"""


async def test_the_kernels_settings_cannot_be_written(cell: Cell) -> None:
    places = (
        *("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger"),
        *("/proc/sys/fs/binfmt_misc/register", "/proc/sys/vm/overcommit_memory", "/proc/mtrr"),
        *("/proc/irq/default_smp_affinity", "/sys/kernel/uevent_helper", "/sys/power/state"),
    )
    before = Path("/proc/sys/kernel/core_pattern").read_text()  # noqa: ASYNC240  # at once
    script = "\n".join(f"(echo x > {place}) && echo written {place}" for place in places)

    assert "written" not in await cell.tries(shell(script), filtered=False)
    assert Path("/proc/sys/kernel/core_pattern").read_text() == before  # noqa: ASYNC240


async def test_nothing_outside_its_own_processes_is_writable_in_proc(cell: Cell) -> None:
    """A new file that the kernel brings is looked at here first."""
    script = """
        import os
        own = {str(pid) for pid in os.listdir("/proc") if pid.isdigit()} | {"self", "thread-self"}
        for folder, folders, files in os.walk("/proc"):
            if folder == "/proc":
                folders[:] = [each for each in folders if each not in own]
            for name in files:
                path = os.path.join(folder, name)
                try:
                    if os.stat(path).st_mode & 0o222:
                        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                        print(path)
                except OSError:
                    pass
    """

    found = set((await cell.tries(python(textwrap.dedent(script)), filtered=False)).split())

    hidden = {
        *("/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats"),
        *("/proc/sched_debug", "/proc/timer_list", "/proc/timer_stats"),
    }  # each is a /dev/null now
    harmless = {
        "/proc/pressure/io",
        "/proc/pressure/cpu",
        "/proc/pressure/memory",
        "/proc/pressure/irq",
    }
    assert found - hidden - harmless == set()


async def test_what_is_hidden_says_nothing(cell: Cell) -> None:
    found = await cell.tries(
        shell(
            "cat /proc/kcore /proc/keys /proc/timer_list 2>/dev/null | wc -c; ls /sys/firmware | wc -l"
        )
    )

    assert found.split() == ["0", "0"]


def machines_disk() -> int:
    return Path("/").stat().st_dev


async def test_a_device_that_is_made_cannot_be_opened(cell: Cell, tmp_path: Path) -> None:
    """Neither in the root, nor in /dev, nor in a volume, nor by its number in memory."""
    volume = tmp_path / "volume"
    volume.mkdir()
    disk = machines_disk()
    script = f"""
        import os, stat
        for folder in ("/", "/tmp", "/dev", "/dev/shm", "/data", "/root"):
            for kind, number in ((stat.S_IFBLK, {disk}), (stat.S_IFCHR, os.makedev(1, 1))):
                path = os.path.join(folder, "disk")
                try:
                    os.mknod(path, kind | 0o600, number)
                    print("opened", path, os.read(os.open(path, os.O_RDONLY), 16))
                except OSError as error:
                    print(error.strerror)
                finally:
                    if os.path.exists(path): os.unlink(path)
    """
    mounts = [Mount(source=str(volume), target="/data")]

    found = await cell.tries(python(textwrap.dedent(script), mounts=mounts), filtered=False)

    assert "opened" not in found
    assert "Permission denied" in found


async def test_what_is_done_to_its_devices_is_done_to_no_others(cell: Cell, tmp_path: Path) -> None:
    given = Mount(source="/dev/zero", target="/dev/given", is_device=True)
    before = modes()

    found = await cell.tries(
        shell(
            # Nothing that would hurt the machine, should it get through.
            "chmod 777 /dev/* /proc/keys 2>/dev/null; chown 1:1 /dev/std* /dev/null /dev/given;"
            " stat -c %u /dev/null /dev/given; head -c 2 /dev/given | od -An -c",
            mounts=[given],
        )
    )

    assert modes() == before
    assert found.split()[:2] == ["1", "1"]


def modes() -> list[tuple[int, int, float]]:
    found = [
        Path(f"/dev/{name}").stat() for name in ("null", "zero", "full", "random", "urandom", "tty")
    ]
    return [(stat.S_IMODE(each.st_mode), each.st_uid, each.st_ctime) for each in found]


async def test_no_mount_is_made_or_loosened(cell: Cell) -> None:
    script = (
        "mount -o remount,rw /usr; mount -o remount,rw /sys; mount -o remount,rw,bind /proc/sys;"
        " umount /proc/sys; mount -t tmpfs none /mnt; mount --bind / /tmp; mount -t proc p /tmp;"
        " unshare -m true; unshare -U true; unshare -Ur mount -t tmpfs none /tmp;"
        " nsenter -t 1 -m true; chroot / true && echo rooted;"
        " touch /usr/x || echo closed"
    )

    found = await cell.tries(shell(script))

    assert found.count("ermission denied") + found.count("not permitted") >= 8
    assert "closed" in found


async def test_without_a_filter_no_mount_is_made_either(cell: Cell) -> None:
    """The filter is the second lock: the first is the right that is missing."""
    found = await cell.tries(
        shell("mount -o remount,rw /sys; umount /proc/sys; mount -t tmpfs none /tmp; echo end"),
        filtered=False,
    )

    assert "mounted" not in found
    assert "end" in found


async def test_no_cgroup_runs_a_program_of_its_own_on_the_machine(cell: Cell) -> None:
    """release_agent: a group that falls empty has the kernel start a program as root, outside."""
    script = (
        "ls /sys/fs/cgroup; mkdir /tmp/c; for kind in memory rdma cpu; do"
        " mount -t cgroup -o $kind c /tmp/c && echo got $kind; done;"
        " mount -t cgroup2 c /tmp/c && echo got v2;"
        " find / -name release_agent 2>/dev/null; cat /proc/self/cgroup"
    )

    found = await cell.tries(shell(script))

    assert "got" not in found
    assert "release_agent" not in found


async def test_a_container_does_not_see_where_its_groups_lie(cell: Cell) -> None:
    groups = Groups(f"kubevirt-test-{uuid.uuid4().hex[:6]}")
    uid = str(uuid.uuid4())
    try:
        folders = groups.for_container(uid, "main", None)
        assert uid not in await cell.tries(shell("cat /proc/self/cgroup", cgroups=folders))
    finally:
        groups.remove(uid)
        groups.close()


async def test_a_file_is_not_opened_by_its_number(cell: Cell, treasure: Path) -> None:
    """open_by_handle_at: with the right to it, all of a disk can be read through one file of it."""
    script = CALLS + textwrap.dedent(
        """
        handle = ctypes.create_string_buffer(136)
        ctypes.memmove(handle, (128).to_bytes(4, "little"), 4)
        mount = ctypes.c_int()
        print(call({name}, -100, b"/usr", handle, ctypes.byref(mount), 0))
        fd = os.open("/usr", os.O_RDONLY)
        print(call({open}, fd, handle, os.O_RDONLY))
        """
    ).replace("{name}", numbers()["name_to_handle_at"]).replace(
        "{open}", numbers()["open_by_handle_at"]
    )

    filtered = await cell.tries(python(script))
    free = await cell.tries(python(script), filtered=False)

    assert filtered.split()[-1] == "EPERM"
    assert free.split()[-1] in ("EPERM", "ESTALE", "EOVERFLOW")


def numbers() -> dict[str, str]:
    if platform.machine() != "x86_64":
        pytest.skip("the numbers are those of x86_64")
    return {"name_to_handle_at": "303", "open_by_handle_at": "304", "keyctl": "250"}


async def test_keys_of_the_machine_are_not_there(cell: Cell) -> None:
    """Neither with a filter, nor without: the session's keys are those of nobody else."""
    script = CALLS + textwrap.dedent(
        f"""
        buffer = ctypes.create_string_buffer(256)
        print(call({numbers()["keyctl"]}, 6, -3, buffer, 256), buffer.value)   # describe: session
        """
    )
    outside = Path("/proc/keys").read_text()  # noqa: ASYNC240

    filtered = await cell.tries(python(script))
    free = await cell.tries(python(script), filtered=False)

    assert filtered.startswith("EPERM")
    assert "_ses" in free
    described = free.split("'")[1]
    assert described.split(";")[-1] == "_ses" or described not in outside
