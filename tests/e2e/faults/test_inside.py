"""What a guest that has broken out of QEMU would find: nothing to gain, and little to see.

The sandbox itself is tried in tests/component/launcher/test_standalone_sandbox.py; here it is the launcher as it
really runs, with all its processes, and a stranger who stands among them.
"""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from bench.launcher.processes import LIBVIRTD, MANAGER, MONITOR, QEMU, processes_of
from tests.e2e.nouns.guests import Guest, Spec, started
from tests.e2e.standalone.driver import Machine

from kubevirt.host import runtime_default, seccomp
from kubevirt.virt.layout import Layout

pytestmark = pytest.mark.timeout(300)

INSIDE = (MONITOR, MANAGER, LIBVIRTD, QEMU)
NOBODY_SPECIAL = {
    "Uid": "107 107 107 107",
    "Gid": "107 107 107 107",
    "Groups": "",
    "NoNewPrivs": "1",
    **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16),
}

FILTERED = "2"
FILTERING = """
import ctypes, os, sys
class Program(ctypes.Structure):
    _fields_ = [("steps", ctypes.c_ushort), ("at", ctypes.c_void_p)]
steps = sys.stdin.buffer.read()
program = Program(len(steps) // 8, ctypes.cast(ctypes.c_char_p(steps), ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges
assert libc.prctl(22, 2, ctypes.byref(program), 0, 0) == 0  # this filter from now on
os.close(0)
os.open(os.devnull, os.O_RDONLY)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""A program, to be run by Python, that lets another one make only those calls that a filter allows."""

ATTEMPTS = {
    "read the accounts": "cat /etc/shadow",
    # The checkout may lie in one of them: the way to it is seen then, and nothing else.
    "read root's home": "ls -A /root | grep -vxF {way}",
    "read others' homes": "ls -A /home | grep -vxF {way}",
    "see other runs": "ls {home}/runs",
    "see the images": "ls {home}/images",
    "write to programs": "touch /usr/bin/x",
    "write to the code": "touch {code}/x",
    "write to the root": "mkdir /x",
    "change its own system": "touch /etc/passwd",
    "mount": "mount -t tmpfs none /tmp",
    "mount what is there elsewhere": "mount --bind /usr /tmp",
    "mount the programs anew": "mount -o remount,bind,rw /usr",
    "mount a raw disk": "mount -t ext4 {disk} /tmp",
    "uncover what lies below": "umount -l /proc",
    "make a device": "mknod /tmp/disk b {number}",
    "make a device beside the others": "mknod /dev/disk b {number}",
    "make a namespace": "unshare --net true",
    "make a namespace of users": "unshare --user --map-root-user true",
    "enter the machine's": "nsenter --target 1 --mount --root=/proc/1/root cat /etc/shadow",
    "change the root": "chroot /tmp /",
    "make links": "ip link add x type veth peer name y",
    "change rules": "nft add table ip x",
    "change the clock": "date -s 2000-01-01",
    "change a kernel setting": "sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'",
    "read the kernel's log": "dmesg",
    "load a module": "modprobe dummy",
    "become root": "su -c true",
    "see processes of others": "sh -c 'ls -d /proc/{outside}'",
    "see a raw disk": "find /dev -type b | grep .",
    "open a raw disk": "head -c 1 {disk}",
    "open a raw disk that somebody left there": "head -c 1 {left}/disk",
    "open a device that somebody left there": "head -c 1 {left}/zero",
    "read the memory of the machine": "head -c 1 /dev/mem",
    "read the memory of the kernel": "head -c 1 /proc/kcore",
}
"""Each would do no harm if it succeeded, and is the work of a program that is there."""
NOT_FOUND = 127


def test_no_process_is_anybody_special(machine: Machine) -> None:
    with started(machine, Spec(interface={"masquerade": {}}), console=False) as guest:
        guest.session.until_said("guest testvm runs")
        found = processes_of(guest.session.process.pid)
        for role in INSIDE:
            status = status_of(found[role].pid)
            assert {name: status[name] for name in NOBODY_SPECIAL} == NOBODY_SPECIAL, role
            assert status["Seccomp"] == FILTERED, role
        # QEMU has one more of its own: it starts no program and makes no call that its work does not need.
        assert filters(found[QEMU].pid) > filters(found[MANAGER].pid)


def test_a_stranger_inside_gets_nowhere(machine: Machine) -> None:
    with started(machine, Spec(interface={"masquerade": {}}), console=False) as guest:
        guest.session.until_said("guest testvm runs")
        code = str(Path(__file__).parents[3] / "src/kubevirt")
        assert stranger(guest, "id -u") == (0, "107\n")  # the stranger can do something at all
        number = raw_disk()
        leave_devices(guest.folder / "share", number)
        known = {
            "home": machine.home,
            "code": code,
            "way": Path(code).parts[2],
            "outside": guest.session.process.pid,
            "disk": f"/dev/{Path(f'/sys/dev/block/{number}').resolve().name}",
            "number": number.replace(":", " "),
            "left": Layout().share,
        }
        outcomes = {
            attempt: stranger(guest, command.format(**known))[0]
            for attempt, command in ATTEMPTS.items()
        }
        assert not [attempt for attempt, end in outcomes.items() if end in {0, NOT_FOUND}]
        # The paths below which files of the machine are seen.
        mounts = stranger(guest, "cut -d' ' -f5 /proc/self/mountinfo")[1].split()
        allowed = ("/usr", "/proc", "/dev", "/tmp", "/etc/", "/sys/", "/var/run/", "/var/lib/")
        ours = (str(Path(code).parents[1]), "/bin", "/sbin", "/lib")
        assert not [each for each in mounts if each != "/" and not each.startswith(allowed + ours)]


def raw_disk() -> str:
    """Number of one of the machine's disks: that with its files, or any."""
    disks = [each.read_text().strip() for each in Path("/sys/block").glob("*/dev")]
    assert disks
    device = Path("/usr").stat().st_dev
    below = f"{os.major(device)}:{os.minor(device)}"
    return below if Path(f"/sys/dev/block/{below}").exists() else disks[0]


def leave_devices(folder: Path, number: str) -> None:
    """Anybody may open them, and who is in the sandbox sees them."""
    major, minor = map(int, number.split(":"))
    for name, kind, device in (
        ("disk", stat.S_IFBLK, os.makedev(major, minor)),
        ("zero", stat.S_IFCHR, os.makedev(1, 5)),
    ):
        os.mknod(folder / name, kind | 0o444, device)
        (folder / name).chmod(0o444)
    with (folder / "zero").open("rb") as zeros:
        assert zeros.read(1) == b"\0"  # here they are no files but devices


def stranger(guest: Guest, command: str) -> tuple[int, str]:
    """Runs a command as one of the launcher's own processes could: exit code and output."""
    manager = processes_of(guest.session.process.pid)[MANAGER].pid
    done = subprocess.run(
        [
            *(
                "nsenter",
                f"--target={manager}",
                "--mount",
                "--pid",
                "--net",
                "--ipc",
                "--uts",
                "--",
            ),
            *("python3", "-I", "-c", FILTERING),
            *("setpriv", "--reuid=107", "--regid=107", "--clear-groups", "--inh-caps=-all"),
            *("--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
            *("sh", "-c", command),
        ],
        input=seccomp.compiled(runtime_default.profile(())),
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def filters(pid: int) -> int:
    """How many a process has; each of them has to agree."""
    return int(status_of(pid)["Seccomp_filters"])


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: " ".join(value.split()) for name, _, value in (x.partition(":") for x in lines)}
