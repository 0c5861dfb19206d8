"""What a guest that has broken out of QEMU would find: nothing to gain, and little to see.

The sandbox itself is tried in tests/component/launcher/test_standalone_sandbox.py; here it is the launcher as it
really runs, with all its processes, and a stranger who stands among them.
"""

import subprocess
from pathlib import Path

import pytest
from bench.launcher.processes import LIBVIRTD, MANAGER, MONITOR, QEMU, processes_of
from tests.e2e.nouns.guests import Guest, Spec, started
from tests.e2e.standalone.driver import Machine

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
"""QEMU starts no program, gains no right and makes no call that its work does not need."""

ATTEMPTS = {
    "read the accounts": "cat /etc/shadow",
    "read root's home": "ls /root",
    "read others' homes": "ls /home",
    "see other runs": "ls {home}/runs",
    "see the images": "ls {home}/images",
    "write to programs": "touch /usr/bin/x",
    "write to the code": "touch {code}/x",
    "write to the root": "mkdir /x",
    "change its own system": "touch /etc/passwd",
    "mount": "mount -t tmpfs none /tmp",
    "make a device": "mknod /tmp/sda b 8 0",
    "make a namespace": "unshare --net true",
    "make links": "ip link add x type veth peer name y",
    "change rules": "nft add table ip x",
    "change the clock": "date -s 2000-01-01",
    "change a kernel setting": "sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'",
    "read the kernel's log": "dmesg",
    "load a module": "modprobe dummy",
    "become root": "su -c true",
    "see processes of others": "sh -c 'ls -d /proc/{outside}'",
    "open a raw disk": "sh -c 'ls /dev/sd* /dev/vd* /dev/nvme*'",
}


def test_no_process_is_anybody_special(machine: Machine) -> None:
    with started(machine, Spec(interface={"masquerade": {}}), console=False) as guest:
        guest.session.until_said("guest testvm runs")
        found = processes_of(guest.session.process.pid)
        for role in INSIDE:
            status = status_of(found[role].pid)
            assert {name: status[name] for name in NOBODY_SPECIAL} == NOBODY_SPECIAL, role
        assert status_of(found[QEMU].pid)["Seccomp"] == FILTERED


def test_a_stranger_inside_gets_nowhere(machine: Machine) -> None:
    with started(machine, Spec(interface={"masquerade": {}}), console=False) as guest:
        guest.session.until_said("guest testvm runs")
        code = str(Path(__file__).parents[3] / "src/kubevirt")
        assert stranger(guest, "id -u") == (0, "107\n")  # the stranger can do something at all
        succeeded = [
            attempt
            for attempt, command in ATTEMPTS.items()
            if stranger(
                guest,
                command.format(home=machine.home, code=code, outside=guest.session.process.pid),
            )[0]
            == 0
        ]
        assert not succeeded
        # The paths below which files of the machine are seen.
        mounts = stranger(guest, "cut -d' ' -f5 /proc/self/mountinfo")[1].split()
        allowed = ("/usr", "/proc", "/dev", "/tmp", "/etc/", "/sys/", "/var/run/", "/var/lib/")
        ours = (str(Path(code).parents[1]), "/bin", "/sbin", "/lib")
        assert not [each for each in mounts if each != "/" and not each.startswith(allowed + ours)]


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
            *("setpriv", "--reuid=107", "--regid=107", "--clear-groups", "--inh-caps=-all"),
            *("--ambient-caps=-all", "--bounding-set=-all", "--no-new-privs", "--"),
            *("sh", "-c", command),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: " ".join(value.split()) for name, _, value in (x.partition(":") for x in lines)}
