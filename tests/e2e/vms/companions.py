"""Who keeps a guest alive: the processes of its pod, and those of the home that tend to it.

of_guest(pod_uid)[QEMU]        inside its pod, and the dnsmasq that speaks to it
of_home(home)[VIRT_API]        the home's own process, and KubeVirt's programs where they are apart
"""

import os
import select
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from kubevirt.embedded.home import Home
from kubevirt.embedded.programs import sighted
from kubevirt.testing.home import TrialHome

QEMU, MONITOR = "QEMU", "the pod's first process"
MANAGER, LIBVIRTD, DNSMASQ = "launcher manager", "libvirtd", "dnsmasq"
HOME = "the home's process"
VIRT_API, VIRT_CONTROLLER, VIRT_HANDLER = "virt-api", "virt-controller", "virt-handler"
PROGRAMS = (VIRT_API, VIRT_CONTROLLER, VIRT_HANDLER)
SURVIVED = (MANAGER, LIBVIRTD, DNSMASQ)
"""Of a guest: without which it runs on."""
FATAL = (QEMU, MONITOR)
"""Of a guest: with which it ends."""
_END_LIMIT_S = 60.0
_PROC = Path("/proc")


def of_guest(pod_uid: str) -> dict[str, int]:
    """Pids by role; nothing if it has no first process yet."""
    seen = [(_role(pid), pid) for pid in _in_pod(pod_uid)]
    monitor = next((pid for role, pid in seen if role == MONITOR), 0)
    if not monitor:
        return {}
    # Their own children look like them for a moment, and libvirt asks QEMUs what they can do.
    found = {role: pid for role, pid in seen if role and _parent(pid) == monitor}
    dnsmasq = _dnsmasq_beside(monitor)
    return found | {MONITOR: monitor} | ({DNSMASQ: dnsmasq} if dnsmasq else {})


def of_home(home: TrialHome) -> dict[str, int]:
    place = Home(home.path)
    holder = place.holder
    programs = {
        next(each for each in PROGRAMS if one.name.startswith(each)): one.pid
        for one in sighted.look(place)
    }
    return programs | ({HOME: holder} if holder else {})


def kill(pid: int) -> bool:
    """Is there no more when this returns; whether it was there before."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    try:
        signal.pidfd_send_signal(pidfd, signal.SIGKILL)
        assert select.select([pidfd], [], [], _END_LIMIT_S)[0], f"{pid} does not end"
    except ProcessLookupError:
        return False
    finally:
        os.close(pidfd)
    return True


def processor_s(pid: int) -> float:
    """Seconds of a processor that it has had; endless if it is gone."""
    words = _stat(pid)
    if not words:
        return float("inf")
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _parent(pid: int) -> int:
    words = _stat(pid)
    return int(words[1]) if words else 0


def _stat(pid: int) -> list[str]:
    """All after its name; nothing if it is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _in_pod(uid: str) -> Iterator[int]:
    for process in _PROC.glob("[0-9]*"):
        try:
            if uid in (process / "cgroup").read_text():
                yield int(process.name)
        except OSError:
            continue


def _role(pid: int) -> str:
    words = _words(pid)
    # bwrap and the keeper name their children's words too, but do not begin with them.
    first: Mapping[str, str] = {"qemu-system": QEMU, "libvirtd": LIBVIRTD}
    for name, role in first.items():
        if words and Path(words[0]).name.startswith(name):
            return role
    if "kubevirt.components.launcher.manager" in words[:4]:
        return MANAGER
    if any(word.endswith("/monitor.py") for word in words[:4]):
        return MONITOR
    return ""


def _dnsmasq_beside(pid: int) -> int:
    """The one in its network; 0 if there is none."""
    network = _network(pid)
    for process in _PROC.glob("[0-9]*"):
        words = _words(int(process.name))
        is_one = bool(words) and Path(words[0]).name == "dnsmasq"
        if is_one and network and _network(int(process.name)) == network:
            return int(process.name)
    return 0


def _network(pid: int) -> str:
    try:
        return str((_PROC / str(pid) / "ns/net").readlink())
    except OSError:
        return ""


def _words(pid: int) -> list[str]:
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return []
