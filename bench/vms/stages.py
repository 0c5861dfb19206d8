"""Where the time from a create to `Running` goes, told by what a start leaves behind: the server's audit log, times of
processes (to 10 ms) and of files. Nothing is measured in the programs themselves.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from bench.launcher.processes import MANAGER, MONITOR, QEMU
from bench.launcher.stages import Stage
from bench.vms.living import NAMESPACE
from bench.vms.pods import LauncherPod
from kubevirt.testing.writes import Write, writes

INSTANCES: Final = "virtualmachineinstances"
API: Final = "API server, virt-api: instance"
CONTROLLER: Final = "virt-controller: pod"
SCHEDULER: Final = "scheduler"
SANDBOX: Final = "node: sandbox"
LAUNCHER: Final = "Python: virt-launcher"
MANAGING: Final = "Python: manager"
NETWORK: Final = "virt-handler: network"
DISKS: Final = "disks: overlay, ISO"
LIBVIRT: Final = "libvirtd: domain"
RUNS: Final = "QEMU"
TOLD: Final = "virt-handler: Running"


def stages(pod: LauncherPod, audit_log: Path, began: float, ended: float) -> list[Stage]:
    """Of a start by itself; `began` and `ended` are the client's."""
    log = [each for each in writes(audit_log, NAMESPACE) if each.began >= began - 0.001]
    processes = pod.processes()
    moments = [
        (API, _first(log, lambda it: (it.verb, it.resource) == ("create", INSTANCES)).ended),
        (CONTROLLER, _first(log, lambda it: (it.verb, it.resource) == ("create", "pods")).ended),
        (SCHEDULER, _first(log, lambda it: _binds(it, pod.name)).ended),
        (SANDBOX, processes[MONITOR].started_at),  # virt-launcher becomes the monitor
        (LAUNCHER, processes[MANAGER].started_at),
        (MANAGING, _changed(pod.volume("sockets") / "launcher-sock")),
        (NETWORK, _changed(pod.volume("public") / "interfaces.json")),
        (DISKS, _changed(pod.volume("private") / "launcher/vmi.json")),
        (LIBVIRT, processes[QEMU].started_at),
        (RUNS, _changed(pod.volume("private") / "launcher/started")),
        (TOLD, ended),
    ]
    return _one_after_the_other(began, moments)


def _one_after_the_other(began: float, moments: Sequence[tuple[str, float]]) -> list[Stage]:
    """A moment that seems to lie before the last one is a clock's coarseness."""
    found, last = list[Stage](), 0.0
    for name, at in moments:
        ended = max(at - began, last)
        found.append(Stage(name, last, ended))
        last = ended
    return found


def _binds(write: Write, pod: str) -> bool:
    return write.resource == "pods/binding" and write.name == pod


def _first(log: Sequence[Write], is_it: Callable[[Write], bool]) -> Write:
    return next(each for each in log if is_it(each))


def _changed(path: Path) -> float:
    """When it got its contents; the name may have come later."""
    return path.stat().st_mtime
