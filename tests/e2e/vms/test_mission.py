"""A machine's whole story, told by a user with stock kubectl and virtctl."""

import re
import time
import urllib.request
from pathlib import Path

from tests.e2e.nouns.guests import Guest
from tests.e2e.vms.place import LIMIT_S, Place
from tests.e2e.vms.reaching import forwarded, printed, virtctl, with_password

MACHINE = Path(__file__).parents[3] / "examples/vm.yaml"
"""The mission's own."""
PAUSED_S = 2.0
BOOT_ID = "/proc/sys/kernel/random/boot_id"


async def test_the_missions_session(place: Place, tmp_path: Path) -> None:
    _apply(place)
    _start(place)
    with place.console("testvm") as guest:
        guest.log_in()
        assert guest.run("uname") == "Linux"
        boot = guest.read(BOOT_ID)
        _reach_by_network(place, guest, tmp_path)
        _pause_and_unpause(place, guest)
    instance = (await place.vmi("testvm"))["metadata"]["uid"]
    assert place.virtctl("restart", "testvm").out == "VM testvm was scheduled to restart\n"
    await place.until(
        "testvm",
        lambda vmi: vmi["metadata"]["uid"] != instance,
        "another one",
        kind="VirtualMachineInstance",
    )
    with place.console("testvm") as guest:
        guest.log_in()
        assert guest.read(BOOT_ID) != boot
    _stop(place)
    _delete(place)


def _apply(place: Place) -> None:
    said = place.kubectl("apply", "-f", str(MACHINE))
    assert said.out == "virtualmachine.kubevirt.io/testvm created\n", said.err
    _wait(place, "jsonpath={.status.printableStatus}=Stopped")
    assert _row(place, "vms") == ["testvm", "Stopped", "False"]
    assert place.kubectl("get", "vmis").err.startswith("No resources found")


def _start(place: Place) -> None:
    assert place.virtctl("start", "testvm").out == "VM testvm was scheduled to start\n"
    _wait(place, "condition=Ready")
    assert _row(place, "vms") == ["testvm", "Running", "True"]
    name, phase, address, node, ready = _row(place, "vmis")
    assert (name, phase, node, ready) == ("testvm", "Running", "node01", "True")
    assert re.fullmatch(r"\d+\.\d+\.\d+\.\d+", address)


def _reach_by_network(place: Place, guest: Guest, folder: Path) -> None:
    """HTTP and ssh, by forwarded ports, and by `virtctl ssh`."""
    guest.run(
        "mkdir /tmp/www; echo hello > /tmp/www/index.html; sudo busybox httpd -p 80 -h /tmp/www"
    )
    environment = with_password(place, folder)
    options = ["-o", "StrictHostKeyChecking=no", "-o", f"UserKnownHostsFile={folder}/known"]
    with forwarded(place, "0:80", "0:22") as (web, shell):
        with urllib.request.urlopen(f"http://127.0.0.1:{web}/", timeout=LIMIT_S) as answer:
            assert answer.read() == b"hello\n"
        by_hand = ["ssh", "-p", str(shell), *options, "cirros@127.0.0.1", "cat", BOOT_ID]
        assert printed(by_hand, environment) == guest.read(BOOT_ID)
    options = [f"--known-hosts={folder}/known", "--local-ssh-opts=-o StrictHostKeyChecking=no"]
    words = virtctl(place, "ssh", "cirros@vm/testvm", *options, f"--command=cat {BOOT_ID}")
    assert printed(words, environment) == guest.read(BOOT_ID)


def _pause_and_unpause(place: Place, guest: Guest) -> None:
    """The guest's clock stands still meanwhile."""
    before, began = _uptime_s(guest), time.monotonic()
    assert place.virtctl("pause", "vm", "testvm", "--wait").code == 0
    paused = time.monotonic()
    assert _row(place, "vms")[:2] == ["testvm", "Paused"]
    assert "VMI is paused" in place.virtctl("port-forward", "vm/testvm", "--stdio", "80").err
    time.sleep(max(0.0, paused + PAUSED_S - time.monotonic()))
    still_s = time.monotonic() - paused
    assert place.virtctl("unpause", "vm", "testvm", "--wait").code == 0
    lived_s, passed_s = _uptime_s(guest) - before, time.monotonic() - began
    assert lived_s <= passed_s - still_s + 0.1
    assert _row(place, "vms")[:2] == ["testvm", "Running"]


def _stop(place: Place) -> None:
    assert place.virtctl("stop", "testvm").out == "VM testvm was scheduled to stop\n"
    _wait(place, "jsonpath={.status.printableStatus}=Stopped")
    assert place.kubectl("wait", "--for=delete", "vmi/testvm", f"--timeout={LIMIT_S:g}s").code == 0
    assert _row(place, "vms") == ["testvm", "Stopped", "False"]


def _delete(place: Place) -> None:
    said = place.kubectl("delete", "vm", "testvm")
    assert said.out.startswith('virtualmachine.kubevirt.io "testvm" deleted')
    for kind in ("vms", "vmis", "pods"):
        assert place.kubectl("get", kind).err.startswith("No resources found")


def _wait(place: Place, what: str) -> None:
    said = place.kubectl("wait", f"--for={what}", "vm/testvm", f"--timeout={LIMIT_S:g}s")
    assert said.code == 0, said.err


def _row(place: Place, kind: str) -> list[str]:
    """What `kubectl get` shows of the machine, without its age."""
    head, row = place.kubectl("get", kind).out.splitlines()
    return [word for name, word in zip(head.split(), row.split(), strict=True) if name != "AGE"]


def _uptime_s(guest: Guest) -> float:
    return float(guest.read("/proc/uptime").split()[0])
